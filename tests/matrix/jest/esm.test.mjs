import { Session, toMessages } from 'peteos-session'
import { scenario } from './scenario.mjs'

test('a window, a save and a load', async () => {
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
})
