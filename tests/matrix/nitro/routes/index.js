import { Session, toMessages } from 'peteos-session'
import { scenario } from '../scenario.mjs'

export default () => scenario({ Session, toMessages })
