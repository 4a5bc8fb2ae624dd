// Laws of windows and forks that hold for any history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { histories, pairOf } from '../support/histories.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll } from '../support/property.mjs'

const { Context } = await load('peteos-session')

const contextOf = (history) => pairOf(history).context
const idsOf = (context) => context.messages.map(({ id }) => id)
const specialsOf = ({ systemPromptMessage, toolDefinitionsMessage }) =>
  [systemPromptMessage, toolDefinitionsMessage].filter((message) => message !== null).map(({ id }) => id)
/** The ids of the non-special messages, oldest first. */
const rankedOf = (context) =>
  context.messages
    .filter(({ id }) => !specialsOf(context).includes(id))
    .sort((one, other) => one._sequence_number - other._sequence_number)
    .map(({ id }) => id)

const RUNS = 200
const budgeted = fc.record({ history: histories, budget: fc.nat({ max: 400 }), more: fc.nat({ max: 100 }) })

test('a window keeps the special messages and the newest others', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    const window = context.rollingTokenWindow(budget)
    if (window === null) return
    const ranked = rankedOf(context)
    // A fork renumbers its messages in display order.
    const kept = new Set(rankedOf(window))
    assert.deepEqual(specialsOf(window), specialsOf(context))
    assert.deepEqual(kept, new Set(ranked.slice(ranked.length - kept.size)))
  })
})

test('a window is within its budget, unless the special messages alone exceed it', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    const window = context.rollingTokenWindow(budget) ?? context
    assert.ok(window.totalTokenCount() <= budget || rankedOf(window).length === 0)
  })
})

test('a window is the largest within its budget: one more message would exceed it', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    const window = context.rollingTokenWindow(budget)
    if (window === null) return
    const { tokens } = context.planTokenWindow(budget)
    const next = rankedOf(context).at(-1 - rankedOf(window).length)
    assert.ok(window.totalTokenCount() + tokens[next] > budget)
  })
})

test('a window is null exactly if everything is within the limit', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    const isEmpty = rankedOf(context).length === 0
    assert.equal(context.rollingTokenWindow(budget) === null, isEmpty || context.totalTokenCount() <= budget)
    assert.equal(context.rollingSequenceWindow(budget) === null, rankedOf(context).length <= budget)
  })
})

test('a larger budget keeps everything that a smaller one keeps', async () => {
  await forAll(RUNS, budgeted, ({ history, budget, more }) => {
    const context = contextOf(history)
    const { kept } = context.planTokenWindow(budget)
    const larger = new Set(context.planTokenWindow(budget + more).kept)
    assert.ok(kept.every((id) => larger.has(id)))
  })
})

test('a window of a window with the same limit is null', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    assert.equal(context.rollingTokenWindow(budget)?.rollingTokenWindow(budget) ?? null, null)
    assert.equal(context.rollingSequenceWindow(budget)?.rollingSequenceWindow(budget) ?? null, null)
  })
})

test('a window changes no message of its context, and a plan changes nothing', async () => {
  await forAll(RUNS, budgeted, ({ history, budget }) => {
    const context = contextOf(history)
    const before = context.rawDict
    context.planTokenWindow(budget)
    assert.equal(context.rawDict, before)
    context.rollingTokenWindow(budget)
    assert.deepEqual(context.rawDict.messages, before.messages)
  })
})

test('a fork of everything has the same messages in the same order, and its own id', async () => {
  await forAll(RUNS, histories, (history) => {
    const context = contextOf(history)
    const fork = context.fork()
    assert.deepEqual(idsOf(fork), idsOf(context))
    assert.equal(fork.totalTokenCount(), context.totalTokenCount())
    assert.notEqual(fork.id, context.id)
    assert.equal(fork.originContextId, context.id)
    assert.deepEqual(context.children, [fork.id])
  })
})

test('two adjacent forks have each message once', async () => {
  await forAll(RUNS, fc.tuple(histories, fc.nat({ max: 40 })), ([history, bound]) => {
    const context = contextOf(history)
    const [before, after] = [context.fork({ end: bound }), context.fork({ start: bound })].map(rankedOf)
    assert.deepEqual([...before, ...after].sort(), rankedOf(context).sort())
  })
})

test('a context from a dict has the same dict and JSON text', async () => {
  await forAll(RUNS, histories, (history) => {
    const context = contextOf(history)
    const again = Context.fromDict(JSON.parse(JSON.stringify(context)))
    assert.deepEqual(again.rawDict, context.rawDict)
    assert.equal(JSON.stringify(again), JSON.stringify(context))
  })
})
