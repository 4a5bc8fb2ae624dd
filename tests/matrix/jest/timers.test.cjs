const { Session } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

test('a save ends while the timers are fake', async () => {
  jest.useFakeTimers()
  expect(await scenario({ Session })).toMatch(/^\d+ messages with \d+ tokens$/)
})
