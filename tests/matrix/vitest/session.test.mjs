import { loadEncoding, Session, toMessages } from 'peteos-session'
import { expect, test, vi } from 'vitest'
import { scenario } from './scenario.mjs'

test('a window, a save and a load', async () => {
  await loadEncoding('o200k_base')
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
})

test('a save ends while the timers are fake', async () => {
  vi.useFakeTimers()
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
  vi.useRealTimers()
})
