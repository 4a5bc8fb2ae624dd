// Rolling windows and their plans, against the model of docs/format.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { refusedNow } from '../support/errors.mjs'
import { appendTo, histories, pairOf } from '../support/histories.mjs'
import { Model, shape, sum } from '../support/model.mjs'
import { fc, forAll, list } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, MemoryStorage, Session, SystemPromptMessage, ToolDefinitionsMessage, countTokens } =
  await load('peteos-session')

const texts = (context) => context.messages.map((message) => message.content[0].text).join(' ')
const filled = (...contents) => {
  const context = Context.create()
  for (const content of contents) context.append(text(content, { token_count: 10 }))
  return context
}

test('a sequence window keeps the last messages', () => {
  const context = filled('a', 'b', 'c')
  assert.equal(context.rollingSequenceWindow(3), null)
  assert.equal(context.rollingSequenceWindow(4), null)
  assert.equal(context.rollingSequenceWindow(Number.MAX_SAFE_INTEGER), null)
  assert.equal(texts(context.rollingSequenceWindow(2)), 'b c')
  assert.equal(texts(context.rollingSequenceWindow(1)), 'c')
  assert.equal(texts(context.rollingSequenceWindow(0)), '')
  assert.equal(texts(context.rollingSequenceWindow(-0)), '')
  assert.equal(texts(context), 'a b c')
  assert.equal(context.children.length, 4, 'only a window that drops something is a child')
})

test('a token window keeps what fits', () => {
  const context = filled('a', 'b', 'c')
  assert.equal(context.rollingTokenWindow(30), null)
  assert.equal(context.rollingTokenWindow(Number.MAX_SAFE_INTEGER), null)
  assert.equal(texts(context.rollingTokenWindow(29)), 'b c')
  assert.equal(texts(context.rollingTokenWindow(20)), 'b c')
  assert.equal(texts(context.rollingTokenWindow(19)), 'c')
  assert.equal(texts(context.rollingTokenWindow(9)), '')
  assert.equal(texts(context.rollingTokenWindow(0)), '')
})

test('a token window stops at the first message that does not fit', () => {
  const context = Context.create()
  for (const [content, token_count] of [
    ['small', 1],
    ['huge', 100],
    ['last', 1],
  ])
    context.append(text(content, { token_count }))
  assert.equal(texts(context.rollingTokenWindow(50)), 'last')
  assert.equal(texts(context.rollingTokenWindow(101)), 'huge last')
})

test('a count of zero tokens is a count', () => {
  const context = Context.create()
  for (const token_count of [0, 0, 5, 0]) context.append(text('x', { token_count }))
  assert.equal(context.rollingTokenWindow(0).messageCount, 1)
  assert.equal(context.rollingTokenWindow(5), null)
})

test('the special messages stay, even where they alone are over', () => {
  const context = Context.create({
    systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 100 },
    toolDefinitionsMessage: { ...ToolDefinitionsMessage.create([]), token_count: 50 },
  })
  const types = (window) => window.messages.map(({ _type }) => _type).join(' ')
  assert.equal(context.rollingTokenWindow(10), null, 'without another message nothing can be dropped')
  assert.equal(context.rollingSequenceWindow(0), null)
  context.append(text('x', { token_count: 10 }))
  assert.equal(types(context.rollingTokenWindow(10)), 'SystemPromptMessage ToolDefinitionsMessage')
  assert.equal(types(context.rollingTokenWindow(159)), 'SystemPromptMessage ToolDefinitionsMessage')
  assert.equal(context.rollingTokenWindow(160), null)
  assert.equal(types(context.rollingSequenceWindow(0)), 'SystemPromptMessage ToolDefinitionsMessage')
})

test('the order of a window is that of appending, not of display', () => {
  const context = Context.create()
  context.append(text('first', { token_count: 10 }))
  context.addAnchor('front', 0, { afterExisting: false })
  context.append(text('second', { token_count: 10 }), 'front')
  context.append(text('third', { token_count: 10 }), 'front')
  assert.equal(texts(context), 'second third first')
  assert.equal(texts(context.rollingSequenceWindow(1)), 'third')
  assert.equal(texts(context.rollingSequenceWindow(2)), 'second third')
  assert.equal(texts(context.rollingTokenWindow(20)), 'second third')
})

test('messages without a sequence number rank by position', () => {
  const messages = ['a', 'b', 'c', 'd'].map((id) => ({
    role: 'user',
    id,
    token_count: 10,
    content: [{ type: 'text', text: id }],
  }))
  const context = Context.fromDict({ messages })
  assert.equal(texts(context.rollingSequenceWindow(2)), 'c d')
  assert.equal(texts(context.rollingTokenWindow(30)), 'b c d')
  assert.deepEqual(context.planSequenceWindow(1).dropped, ['a', 'b', 'c'])
  const child = context.rollingSequenceWindow(3)
  assert.deepEqual(
    child.messages.map((message) => message._sequence_number),
    [3, 4, 5],
  )
  // Where some have a number, none vanishes, and a window of n has n.
  const mixed = Context.fromDict({
    messages: messages.map((message, index) =>
      index % 2 === 0 ? message : { ...message, _sequence_number: 10 + index },
    ),
  })
  for (let count = 0; count < 4; count++) assert.equal(mixed.rollingSequenceWindow(count).messageCount, count)
  assert.equal(mixed.rollingSequenceWindow(4), null)
  assert.equal(mixed.rollingTokenWindow(25).messageCount, 2)
})

test('sequence numbers that are none, or stand twice, hide no message', () => {
  const numbers = [5, 5, -3, 1.5, null, 'x', 2 ** 60, 7]
  const messages = numbers.map((_sequence_number, index) => ({
    role: 'user',
    id: `m${index}`,
    _sequence_number,
    token_count: 1,
  }))
  const context = Context.fromDict({ messages })
  for (let count = 0; count < messages.length; count++) {
    assert.equal(context.rollingSequenceWindow(count).messageCount, count)
    assert.equal(context.rollingTokenWindow(count).messageCount, count)
    const { kept, dropped } = context.planSequenceWindow(count)
    assert.deepEqual(
      [...kept, ...dropped].sort(),
      messages.map(({ id }) => id),
    )
  }
  context.append({ role: 'user', id: 'new' })
  assert.deepEqual(context.planSequenceWindow(1).kept, ['new'])
})

test('a message counts as special only where the context names it and it stands in front', () => {
  const special = (id, _type) => ({ id, _type, role: 'system', content: [] })
  const user = { id: 'u', role: 'user' }
  const kept = (dict) =>
    Context.fromDict(dict)
      .rollingSequenceWindow(0)
      ?.messages.map(({ id }) => id) ?? null
  const system = special('s', 'SystemPromptMessage')
  const tools = special('t', 'ToolDefinitionsMessage')
  const ids = { system_prompt_message_id: 's', tool_definitions_message_id: 't' }
  assert.deepEqual(kept({ ...ids, messages: [system, tools, user] }), ['s', 't'])
  assert.deepEqual(kept({ ...ids, messages: [tools, user] }), ['t'])
  assert.deepEqual(kept({ ...ids, messages: [user, tools] }), ['t'])
  assert.deepEqual(kept({ ...ids, messages: [user, system] }), [])
  assert.deepEqual(kept({ ...ids, messages: [system, user, tools] }), ['s'])
  assert.deepEqual(kept({ messages: [system, tools, user] }), [])
  assert.deepEqual(kept({ ...ids, messages: [{ ...system, _type: 'Message' }, user] }), [])
  assert.equal(kept({ ...ids, messages: [system, tools] }), null)
})

test('a message that is named as both special ones counts once', () => {
  const context = Context.fromDict({
    system_prompt_message_id: 's',
    tool_definitions_message_id: 's',
    messages: [
      { id: 's', role: 'system', _type: 'Persona', token_count: 7 },
      { id: 'm', role: 'user', token_count: 5 },
    ],
  })
  assert.equal(context.totalTokenCount(), 12)
  const report = context.planTokenWindow(12)
  assert.deepEqual([report.dropped, report.specialTokens, report.tokensBefore, report.tokensAfter], [[], 7, 12, 12])
  assert.equal(context.rollingTokenWindow(12), null)
})

test('two messages with one id are two', () => {
  const context = Context.fromDict({
    messages: [1, 2, 3].map((number) => ({ id: 'm', role: 'user', token_count: 10, _sequence_number: number })),
  })
  assert.deepEqual(context.planTokenWindow(20).kept, ['m', 'm'])
  assert.deepEqual([context.planTokenWindow(20).tokensBefore, context.planTokenWindow(20).tokensAfter], [30, 20])
  assert.equal(context.rollingTokenWindow(20).messageCount, 2)
  assert.equal(context.rollingSequenceWindow(1).messageCount, 1)
  assert.equal(context.fork().messageCount, 3)
})

test('windows of a session become its active context', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  for (const content of ['a', 'b', 'c']) session.activeContext.append(text(content, { token_count: 10 }))
  const first = session.activeContext
  const second = session.rollingSequenceWindow(2)
  assert.equal(session.activeContext, second)
  assert.equal(session.activeContextId, second.id)
  assert.deepEqual(first.children, [second.id])
  assert.equal(second.originContextId, first.id)
  const third = session.rollingTokenWindow(10, 'cl100k_base')
  assert.equal(session.activeContext, third)
  assert.equal(texts(third), 'c')
  assert.equal(session.rollingTokenWindow(10), null)
  assert.equal(session.activeContext, third)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContextId, third.id)
  assert.deepEqual((await again.loadContext(first.id)).children, [second.id])
  assert.equal(texts(await again.loadContext(second.id)), 'b c')
})

test('a plan of a sequence window says what it keeps, and no tokens', () => {
  const context = filled('a', 'b', 'c')
  const ids = context.messages.map(({ id }) => id)
  assert.deepEqual(context.planSequenceWindow(2), {
    boundary: 'message',
    limit: 2,
    reserve: 0,
    lowerMark: null,
    encoding: null,
    kept: ids.slice(1),
    dropped: ids.slice(0, 1),
    messages: [
      { id: ids[0], kept: false, reason: 'over-limit' },
      { id: ids[1], kept: true, reason: 'recent' },
      { id: ids[2], kept: true, reason: 'recent' },
    ],
    broken: [],
    pending: [],
    specialTokens: null,
    tokensBefore: null,
    tokensAfter: null,
    unchangedPrefixTokens: null,
    tokens: null,
    tokensByRole: null,
    tokensByPart: null,
  })
  assert.deepEqual(context.planSequenceWindow(9).dropped, [])
})

test('a plan of a token window says what it keeps and counted', () => {
  const context = Context.create({ systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 7 } })
  for (const content of ['a', 'b', 'c']) context.append(text(content, { token_count: 10 }))
  const [system, ...ids] = context.messages.map(({ id }) => id)
  const parts = { text: 0, thinking: 0, toolCall: 0, toolResult: 0, media: 0, toolDefinition: 0, other: 0 }
  assert.deepEqual(context.planTokenWindow(27), {
    boundary: 'message',
    limit: 27,
    reserve: 0,
    lowerMark: null,
    encoding: 'cl100k_base',
    kept: ids.slice(1),
    dropped: ids.slice(0, 1),
    messages: [
      { id: system, kept: true, reason: 'special' },
      { id: ids[0], kept: false, reason: 'over-limit' },
      { id: ids[1], kept: true, reason: 'recent' },
      { id: ids[2], kept: true, reason: 'recent' },
    ],
    broken: [],
    pending: [],
    specialTokens: 7,
    tokensBefore: 37,
    tokensAfter: 27,
    unchangedPrefixTokens: 7,
    tokens: { [system]: 7, [ids[0]]: 10, [ids[1]]: 10, [ids[2]]: 10 },
    tokensByRole: { before: { system: 7, user: 30 }, after: { system: 7, user: 20 } },
    tokensByPart: { before: { ...parts, text: 37 }, after: { ...parts, text: 27 } },
  })
  assert.equal(context.planTokenWindow(5, 'gpt2').encoding, 'r50k_base')
  assert.equal(context.planTokenWindow(5, 'o200k_harmony').encoding, 'o200k_harmony')
})

test('a plan changes nothing, and is frozen', () => {
  const context = filled('a', 'b')
  const before = context.rawDict
  const report = context.planTokenWindow(10)
  context.planSequenceWindow(1)
  assert.equal(context.rawDict, before)
  for (const part of [report, report.kept, report.dropped, report.tokens]) assert.ok(Object.isFrozen(part))
})

test('an unknown option of a window, or a value of the wrong type, is refused by name', () => {
  const context = filled('a', 'b')
  const before = context.rawDict
  assert.equal(context.rollingSequenceWindow(5, { boundary: 'message' }), null)
  assert.equal(context.planTokenWindow(5, 'gpt2', {}).boundary, 'message')
  assert.equal(context.planSequenceWindow(5, undefined).boundary, 'message')
  const calls = [
    (options) => context.rollingSequenceWindow(1, options),
    (options) => context.planSequenceWindow(1, options),
    (options) => context.rollingTokenWindow(1, undefined, options),
    (options) => context.planTokenWindow(1, undefined, options),
  ]
  for (const call of calls) {
    for (const boundary of ['sentence', '', 'MESSAGE', 5, {}, [], true]) {
      refusedNow(() => call({ boundary }), 'InvalidArgumentError', { argument: 'options.boundary' })
    }
    refusedNow(() => call({ bounday: 'message' }), 'InvalidArgumentError', {
      argument: 'options.bounday',
      message: /boundary/,
    })
    for (const wrong of ['message', 5, true])
      refusedNow(() => call(wrong), 'InvalidArgumentError', { argument: 'options' })
  }
  const lists = [5, 'id', {}, [5], [null], [['id']], new Set(['id'])]
  const wrong = [
    ...lists.map((pin) => [{ pin }, 'options.pin']),
    [{ pin: ['nobody'] }, 'options.pin[0]'],
    [{ pin: [context.messages[0].id, ''] }, 'options.pin[1]'],
    ...['5', -1, 1.5, NaN, {}, null].map((to) => [{ hysteresis: { to } }, 'options.hysteresis.to']),
    [{ hysteresis: {} }, 'options.hysteresis.to'],
    [{ hysteresis: { to: 2 } }, 'options.hysteresis.to'],
    [{ hysteresis: { to: 1, from: 2 } }, 'options.hysteresis.from'],
    ...[5, 'low', true].map((hysteresis) => [{ hysteresis }, 'options.hysteresis']),
  ]
  for (const [options, argument] of wrong) {
    // Null is as good as absent, but in the mark, which is all that there is to say.
    for (const call of calls) refusedNow(() => call(options), 'InvalidArgumentError', { argument })
  }
  const [, , ...tokenCalls] = calls
  const wrongCounting = [
    ...['5', -1, 0.5, NaN, [], {}].map((reserve) => [{ reserve }, 'options.reserve']),
    [{ reserve: 2 }, 'options.reserve'],
    ...['none', -1, 0.5, NaN, [], true].map((media) => [{ media }, 'options.media']),
    ...['gpt-4o', 5, {}, true].map((counter) => [{ counter }, 'options.counter']),
  ]
  for (const [options, argument] of wrongCounting) {
    for (const call of tokenCalls) refusedNow(() => call(options), 'InvalidArgumentError', { argument })
    const [name] = Object.keys(options)
    for (const call of calls.slice(0, 2)) {
      refusedNow(() => call(options), 'InvalidArgumentError', { argument: `options.${name}`, message: /sequence window/ })
    }
  }
  assert.equal(context.rawDict, before)
})

test('windows and plans do what the model does', async () => {
  await forAll(100, histories, (history) => {
    const { context, model } = pairOf(history)
    const { length } = model.ranked
    for (const count of new Set([0, 1, 2, 3, Math.max(0, length - 1), length, length + 1])) {
      checkSequenceWindow(context, model, count)
    }
    // The budgets at which one message more is kept, and those next to them.
    const edges = model.ranked.map((_, index) => sum(model.specials) + sum(model.ranked.slice(index)))
    const near = [0, sum(model.specials), model.total(), ...edges].flatMap((edge) => [edge - 1, edge, edge + 1])
    for (const budget of new Set(near)) if (budget >= 0) checkTokenWindow(context, model, budget)
  })
})

test('windows of windows do what the model does', async () => {
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

test('windows in every encoding, with real counts, do what the model does', async () => {
  const words = ['hello', ' world', '日本語', 'Größe', '\n\n', '🏳️‍🌈', '<|endoftext|>', '    ', '12345', 'مرحبا']
  const contents = list(1, 12, list(0, 9, fc.constantFrom(...words)).map((chosen) => chosen.join('')))
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
