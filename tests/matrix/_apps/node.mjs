import { Session, toMessages } from 'peteos-session'
import { scenario } from './scenario.mjs'

scenario({ Session, toMessages }).then(console.log)
