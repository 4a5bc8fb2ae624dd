import { init, loadEncoding, Session, toMessages } from 'peteos-session'
import { scenario } from './scenario.mjs'

async function run() {
  await init()
  await loadEncoding('o200k_base')
  return scenario({ Session, toMessages })
}

globalThis.result = run().catch(String)
