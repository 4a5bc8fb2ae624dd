const { loadEncoding, Session, toMessages } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

test('a window, a save and a load', async () => {
  await loadEncoding('o200k_base')
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
})
