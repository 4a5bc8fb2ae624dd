const { Session, toMessages } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

test('a save ends while the timers are fake', async () => {
  jest.useFakeTimers()
  expect(await scenario({ Session, toMessages })).toMatch(/^\d+ messages with \d+ tokens$/)
})
