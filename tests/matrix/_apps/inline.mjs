import { Session, toMessages } from 'peteos-session/inline'
import 'peteos-session/encodings/o200k_base'
import { scenario } from './scenario.mjs'

globalThis.result = scenario({ Session, toMessages }).catch(String)
globalThis.result.then(console.log)
