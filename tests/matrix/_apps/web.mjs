import { init, loadEncoding, Session } from 'peteos-session'
import { scenario } from './scenario.mjs'

async function run() {
  await init()
  await loadEncoding('o200k_base')
  return scenario({ Session })
}

globalThis.result = run().catch(String)
