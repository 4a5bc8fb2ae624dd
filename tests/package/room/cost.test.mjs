// What a policy costs: simulations compared with a plain model, comparisons, and the cost of one cut.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll, list } from '../support/property.mjs'

const { compare, ContentPart, Context, countTokens, Message, planCost, simulate, SystemPromptMessage } =
  await load('peteos-session')

const PRICES = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5 }
const POLICIES = {
  everything: [],
  sliding: [{ type: 'token-window', maxTokens: 400, boundary: 'exchange' }],
  hysteresis: [{ type: 'token-window', maxTokens: 400, boundary: 'exchange', hysteresis: { to: 200 } }],
  clearing: [{ type: 'clear-tool-results', keep: 2 }],
  both: [
    { type: 'clear-tool-results', keep: 2, clearAtLeast: 50 },
    { type: 'token-window', maxTokens: 500, boundary: 'exchange', hysteresis: { to: 300 } },
  ],
}

/** An agent that reads files; `rounds` has the lengths of the results. */
function agent(rounds, system = SystemPromptMessage.create('You read files.')) {
  const context = Context.create({ systemPromptMessage: system })
  rounds.forEach((length, index) => {
    if (index % 4 === 0) context.append(Message.create('user', `Task ${index}`))
    context.append(Message.create('assistant', [ContentPart.toolUse(`c${index}`, 'read', { path: `f${index}` })]))
    context.append(
      Message.create('tool_result', [ContentPart.toolResult(`c${index}`, 'words of a file '.repeat(length))]),
    )
  })
  return context
}

/** The simulation as docs/making-room.md describes it, step by step, on real forks. */
function model(context, policy, { input, cacheRead = input, cacheWrite = input, output }, system = '') {
  const extra = countTokens(system)
  let work = Context.create({ systemPromptMessage: context.systemPromptMessage })
  let sent = null
  const sums = { requests: 0, tokensSent: 0, peakTokens: 0, cacheBreaks: 0, cost: 0 }
  for (const message of context.messages) {
    if (message === context.systemPromptMessage) continue
    if (message.role === 'assistant') {
      work = work.fit(policy)?.context ?? work
      const now = work.messages.map(({ id, content }) => JSON.stringify([id, content]))
      const counts = work.tokenCounts()
      let same = 0
      while (sent !== null && same < sent.length && sent[same] === now[same]) same++
      const add = (from, to) => counts.slice(from, to).reduce((sum, count) => sum + count, 0)
      const cached = sent === null ? 0 : add(0, same) + extra
      const tokens = add(0) + extra
      sums.requests++
      sums.tokensSent += tokens
      sums.peakTokens = Math.max(sums.peakTokens, tokens)
      if (sent !== null && same < sent.length) sums.cacheBreaks++
      sums.cost +=
        cached * cacheRead +
        (tokens - cached) * cacheWrite +
        output * context.tokenCounts()[context.messages.indexOf(message)]
      sent = now
    }
    work.append(message)
  }
  return sums
}

test('a simulation equals the plain model, for every policy', async () => {
  await forAll(25, list(1, 30, fc.nat(12)), (rounds) => {
    const context = agent(rounds)
    const before = JSON.stringify(context.rawDict)
    for (const [name, policy] of Object.entries(POLICIES)) {
      const { rows, cost, keptMessages, keptTokens, ...sums } = simulate(context, policy, { prices: PRICES })
      const { cost: expected, ...others } = model(context, policy, PRICES)
      assert.deepEqual(sums, others, name)
      assert.ok(Math.abs(cost - expected) < 1e-6 * expected, `${name}: ${cost} is not ${expected}`)
      assert.equal(rows.length, sums.requests)
      assert.ok(Math.abs(rows.reduce((sum, row) => sum + row.cost, 0) - cost) < 1e-6 * cost)
      assert.equal(keptTokens, rows.at(-1).tokens)
      assert.ok(keptMessages <= context.messageCount)
    }
    assert.equal(JSON.stringify(context.rawDict), before, 'the context does not change')
  })
})

test('a system text is sent with each request, and prices without a cache are those of input', () => {
  const context = agent([3, 3, 3], null)
  const system = 'Be careful. '.repeat(20)
  const prices = { input: 2, output: 3 }
  const { rows: _, keptMessages: __, keptTokens: ___, ...sums } = simulate(context, [], { prices, system })
  assert.deepEqual(sums, model(context, [], prices, system))
  const [first, second] = simulate(context, [], { prices: PRICES, system, encoding: 'o200k_base' }).rows
  assert.equal(first.cachedTokens, 0)
  assert.equal(second.cachedTokens, first.tokens)
})

test('a comparison has the cheapest policy first; a sliding window costs more than no window', () => {
  const context = agent(Array.from({ length: 60 }, (_, index) => index % 9))
  const rows = compare(context, POLICIES, { prices: PRICES })
  assert.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(POLICIES).sort())
  const costs = rows.map(({ cost }) => cost)
  assert.deepEqual(
    costs,
    [...costs].sort((one, other) => one - other),
  )
  const cost = (name) => rows.find((row) => row.name === name).cost
  assert.ok(cost('sliding') > cost('hysteresis') && cost('both') < cost('everything'))
  assert.deepEqual(rows[0].policy, POLICIES[rows[0].name])
  assert.equal('rows' in rows[0], false)
  const unnamed = compare(context, [POLICIES.sliding, []], { prices: PRICES })
  assert.deepEqual(unnamed.map(({ name }) => name).sort(), ['1', '2'])
  assert.deepEqual(compare(context, {}, { prices: PRICES }), [])
})

test('the cost of a cut is that of what is billed again, and it pays after some requests', () => {
  const report = { tokensBefore: 60_000, tokensAfter: 30_000, unchangedPrefixTokens: 2_000 }
  const cost = planCost(report, PRICES, { tokensPerRequest: 500 })
  assert.equal(cost.tokensBilledAgain, 28_000)
  assert.ok(Math.abs(cost.extraCost - 28_000 * 1.15) < 1e-6)
  assert.ok(Math.abs(cost.savedPerRequest - 3_000) < 1e-6)
  assert.equal(cost.requestsUntilItPays, 11)
  assert.equal(cost.cheapestBatch, Math.round(Math.sqrt((2 * cost.extraCost * 500) / 0.1)))
  assert.equal(planCost(report, PRICES).cheapestBatch, null)
  assert.deepEqual(planCost({ tokensBefore: 5, tokensAfter: 5, unchangedPrefixTokens: 5 }, PRICES), {
    tokensBilledAgain: 0,
    extraCost: 0,
    savedPerRequest: 0,
    requestsUntilItPays: 0,
    cheapestBatch: null,
  })
  const free = { input: 1, cacheRead: 0, cacheWrite: 1, output: 1 }
  assert.equal(planCost(report, free).requestsUntilItPays, null)
  const context = agent([5, 5, 5, 5])
  assert.ok(planCost(context.planTokenWindow(150, undefined, { boundary: 'exchange' }), PRICES).extraCost > 0)
  assert.ok(planCost(context.planClearToolResults({ keep: 1 }), PRICES).savedPerRequest > 0)
})

test('wrong arguments name the field at fault', () => {
  const context = agent([1])
  for (const [prices, argument] of [
    [undefined, 'options.prices'],
    [5, 'options.prices'],
    [{ output: 1 }, 'options.prices.input'],
    [{ input: 1 }, 'options.prices.output'],
    [{ input: -1, output: 1 }, 'options.prices.input'],
    [{ input: 1, output: 1, cacheRead: '1' }, 'options.prices.cacheRead'],
    [{ input: 1, output: 1, cached: 1 }, 'options.prices.cached'],
  ]) {
    refusedNow(() => simulate(context, [], { prices }), 'InvalidArgumentError', { argument })
    refusedNow(() => compare(context, [[]], { prices }), 'InvalidArgumentError', { argument })
  }
  refusedNow(() => simulate({}, [], { prices: PRICES }), 'InvalidArgumentError', { argument: 'context' })
  refusedNow(() => simulate(context, [{ type: 'x' }], { prices: PRICES }), 'InvalidArgumentError', {
    argument: 'policy[0].type',
  })
  refusedNow(() => simulate(context, [], { prices: PRICES, system: 5 }), 'InvalidArgumentError', {
    argument: 'options.system',
  })
  refusedNow(() => simulate(context, [], { prices: PRICES, encoding: 'x' }), 'UnknownEncodingError')
  refusedNow(() => compare(context, 5, { prices: PRICES }), 'InvalidArgumentError', { argument: 'policies' })
  const report = { tokensBefore: 2, tokensAfter: 1, unchangedPrefixTokens: 0 }
  refusedNow(() => planCost({ ...report, tokensAfter: null }, PRICES), 'InvalidArgumentError', {
    argument: 'report.tokensAfter',
  })
  refusedNow(() => planCost(undefined, PRICES), 'InvalidArgumentError', { argument: 'report.tokensBefore' })
  refusedNow(() => planCost(report, undefined), 'InvalidArgumentError', { argument: 'prices.input' })
  refusedNow(() => planCost(report, { ...PRICES, cacheRead: Number.NaN }), 'InvalidArgumentError', {
    argument: 'prices.cacheRead',
  })
  refusedNow(() => planCost(report, PRICES, { tokensPerRequest: -1 }), 'InvalidArgumentError', {
    argument: 'options.tokensPerRequest',
  })
})
