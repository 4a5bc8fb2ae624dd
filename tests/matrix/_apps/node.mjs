import { Session } from 'peteos-session'
import { scenario } from './scenario.mjs'

scenario({ Session }).then(console.log)
