// Rolling windows and their plans, against the model of docs/format.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendTo, histories, pairOf } from '../support/histories.mjs'
import { load } from '../support/installed.mjs'
import { Model, shape, sum } from '../support/model.mjs'
import { fc, forAll, list } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session, countTokens } = await load('peteos-session')

test('windows and plans match the model', async () => {
  await forAll(100, histories, (history) => {
    const { context, model } = pairOf(history)
    const { length } = model.ranked
    for (const count of new Set([0, 1, 2, 3, Math.max(0, length - 1), length, length + 1])) {
      checkSequenceWindow(context, model, count)
    }
    // The budgets at which one more message is kept, and their neighbours.
    const edges = model.ranked.map((_, index) => sum(model.specials) + sum(model.ranked.slice(index)))
    const near = [0, sum(model.specials), model.total(), ...edges].flatMap((edge) => [edge - 1, edge, edge + 1])
    for (const budget of new Set(near)) if (budget >= 0) checkTokenWindow(context, model, budget)
  })
})

test('windows of windows match the model', async () => {
  const rounds = list(1, 4, fc.record({ count: fc.nat(), anchor: fc.nat() }))
  await forAll(150, fc.tuple(histories, rounds), ([history, rounds]) => {
    let { context, model } = pairOf(history)
    for (const [round, { count, anchor }] of rounds.entries()) {
      const kept = count % (model.ranked.length + 1)
      const [next, nextModel] = [context.rollingSequenceWindow(kept), model.windowOf(model.keptByCount(kept))]
      assert.deepEqual(shape(next), shape(nextModel))
      if (next === null) continue
      ;[context, model] = [next, nextModel]
      appendTo({ context, model }, { id: `r${round}`, tokens: 3 }, anchor)
      assert.deepEqual(shape(context), shape(model))
    }
  })
})

test('windows of a context that was saved and loaded are the same', async () => {
  await forAll(60, fc.record({ history: histories, budget: fc.nat(), count: fc.nat({ max: 5 }) }), async (given) => {
    const { context, model } = pairOf(given.history)
    const storage = new RecordingStorage()
    const session = Session.create('a', { storage })
    session.setActiveContext(context)
    await session.save()
    const { activeContext } = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(activeContext.rawDict, context.rawDict)
    checkTokenWindow(activeContext, model, given.budget % (model.total() + 1))
    checkSequenceWindow(activeContext, model, given.count)
  })
})

test('windows in every encoding, with real counts, match the model', async () => {
  const words = ['hello', ' world', '日本語', 'Größe', '\n\n', '🏳️‍🌈', '<|endoftext|>', '    ', '12345', 'مرحبا']
  const contents = list(
    1,
    12,
    list(0, 9, fc.constantFrom(...words)).map((chosen) => chosen.join('')),
  )
  const encodings = ['r50k_base', 'gpt2', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']
  for (const encoding of encodings) {
    await forAll(10, fc.tuple(contents, list(5, 5, fc.nat())), ([contents, budgets]) => {
      const context = Context.create()
      const model = Model.create()
      for (const [index, content] of contents.entries()) {
        context.append(text(content, { id: `m${index}` }))
        const counted = `user: [{"type": "text", "text": ${JSON.stringify(content)}}]`
        model.append({ id: `m${index}`, tokens: countTokens(counted, encoding) })
      }
      assert.equal(context.totalTokenCount(encoding), model.total())
      for (const budget of budgets) checkTokenWindow(context, model, budget % (model.total() + 2), encoding)
    })
  }
})

function checkSequenceWindow(context, model, count) {
  const kept = model.keptByCount(count)
  const report = context.planSequenceWindow(count)
  checkReport(report, model, kept)
  assert.deepEqual([report.limit, report.encoding, report.tokens, report.tokensBefore], [count, null, null, null])
  checkWindow(context, context.rollingSequenceWindow(count), model.windowOf(kept), report)
}

function checkTokenWindow(context, model, maxTokens, encoding) {
  const kept = model.keptByTokens(maxTokens)
  const report = context.planTokenWindow(maxTokens, encoding)
  checkReport(report, model, kept)
  assert.equal(report.limit, maxTokens)
  assert.equal(report.specialTokens, sum(model.specials))
  assert.equal(report.tokensBefore, model.total())
  assert.equal(report.tokensAfter, sum(model.specials) + sum(kept))
  assert.deepEqual({ ...report.tokens }, Object.fromEntries(model.messages.map(({ id, tokens }) => [id, tokens])))
  if (kept.length > 0) assert.ok(report.tokensAfter <= maxTokens)
  const window = context.rollingTokenWindow(maxTokens, encoding)
  checkWindow(context, window, model.windowOf(kept), report)
  assert.equal((window ?? context).totalTokenCount(encoding), report.tokensAfter)
}

function checkReport({ kept, dropped, boundary }, model, expected) {
  const inOrder = (keep) =>
    model.messages.filter((message) => model.ranked.includes(message) && expected.includes(message) === keep)
  assert.deepEqual(
    kept,
    inOrder(true).map(({ id }) => id),
  )
  assert.deepEqual(
    dropped,
    inOrder(false).map(({ id }) => id),
  )
  assert.equal(boundary, 'message')
}

function checkWindow(context, window, model, report) {
  assert.deepEqual(shape(window), shape(model))
  assert.equal(window === null, report.dropped.length === 0)
  if (window === null) return
  const specials = [window.systemPromptMessage, window.toolDefinitionsMessage]
  assert.deepEqual(
    window.messages.filter((message) => !specials.includes(message)).map(({ id }) => id),
    report.kept,
  )
  assert.equal(context.children.at(-1), window.id)
  assert.equal(window.originContextId, context.id)
}
