import { Session, toMessages } from 'peteos-session'
import 'peteos-session/encodings/o200k_base'
import { scenario } from './scenario.mjs'

export default {
  async fetch() {
    return new Response(await scenario({ Session, toMessages }))
  },
}
