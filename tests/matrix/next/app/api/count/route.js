import { Session, toMessages } from 'peteos-session'
import { scenario } from '../../../scenario.mjs'

export const dynamic = 'force-dynamic'

export async function GET() {
  return new Response(await scenario({ Session, toMessages }))
}
