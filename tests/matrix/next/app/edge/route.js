import { loadEncoding, Session, toMessages } from 'peteos-session'
import { scenario } from '../../scenario.mjs'

export const runtime = 'edge'

export async function GET() {
  await loadEncoding('o200k_base')
  return new Response(await scenario({ Session, toMessages }))
}
