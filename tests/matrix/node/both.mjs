import { createRequire } from 'node:module'
import { Session } from 'peteos-session'
import { scenario } from './scenario.mjs'

const required = createRequire(import.meta.url)('peteos-session')
if (required.Session !== Session) throw new Error('import and require give two copies')
scenario(required).then(console.log)
