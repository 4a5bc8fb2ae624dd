// Compares policies on a session: what each would have cost, and what it keeps.
//
//   node examples/policies/run.mjs [parent directory of a session] [its uuid]

import * as peteos from 'peteos-session'
import { compare, Session } from 'peteos-session'
import { agentLog } from './log.mjs'
import { ENCODING, POLICIES, PRICES } from './policies.mjs'

const [parentDir, uuid] = process.argv.slice(2)
const context = parentDir === undefined ? agentLog(peteos) : (await Session.load(parentDir, uuid)).activeContext
const start = performance.now()
const rows = compare(context, POLICIES, { prices: PRICES, encoding: ENCODING })
const seconds = (performance.now() - start) / 1000
const millions = (tokens) => Number((tokens / 1e6).toFixed(2))
console.log(`${context.messageCount} messages, ${context.totalTokenCount(ENCODING)} tokens of ${ENCODING}`)
console.table(
  rows.map(({ name, cost, requests, tokensSent, peakTokens, cacheBreaks, keptMessages }) => ({
    policy: name,
    cost: millions(cost),
    requests,
    sent: millions(tokensSent),
    'largest request': peakTokens,
    'cache breaks': cacheBreaks,
    'messages at the end': keptMessages,
  })),
)
console.log(`Costs in millions of tokens of input; compared in ${seconds.toFixed(2)} s.`)
