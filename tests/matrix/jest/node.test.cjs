const { Session, toMessages } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

test('a window, a save and a load', async () => {
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
})
