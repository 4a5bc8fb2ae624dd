// Rolling windows and their plans, by example.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { ContentPart, Context, MemoryStorage, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
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
  assert.equal(context.children.length, 4, 'only a window that drops messages is a child')
})

test('a token window keeps the messages that fit', () => {
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

test('a count of zero tokens is valid', () => {
  const context = Context.create()
  for (const token_count of [0, 0, 5, 0]) context.append(text('x', { token_count }))
  assert.equal(context.rollingTokenWindow(0).messageCount, 1)
  assert.equal(context.rollingTokenWindow(5), null)
})

test('the special messages are kept, even if they alone exceed the budget', () => {
  const context = Context.create({
    systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 100 },
    toolDefinitionsMessage: { ...ToolDefinitionsMessage.create([]), token_count: 50 },
  })
  const types = (window) => window.messages.map(({ _type }) => _type).join(' ')
  assert.equal(context.rollingTokenWindow(10), null, 'without other messages nothing can be dropped')
  assert.equal(context.rollingSequenceWindow(0), null)
  context.append(text('x', { token_count: 10 }))
  assert.equal(types(context.rollingTokenWindow(10)), 'SystemPromptMessage ToolDefinitionsMessage')
  assert.equal(types(context.rollingTokenWindow(159)), 'SystemPromptMessage ToolDefinitionsMessage')
  assert.equal(context.rollingTokenWindow(160), null)
  assert.equal(types(context.rollingSequenceWindow(0)), 'SystemPromptMessage ToolDefinitionsMessage')
})

test('a window follows the order of appends, not of display', () => {
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
  // If some have a number, none is lost, and a window of n has n.
  const mixed = Context.fromDict({
    messages: messages.map((message, index) =>
      index % 2 === 0 ? message : { ...message, _sequence_number: 10 + index },
    ),
  })
  for (let count = 0; count < 4; count++) assert.equal(mixed.rollingSequenceWindow(count).messageCount, count)
  assert.equal(mixed.rollingSequenceWindow(4), null)
  assert.equal(mixed.rollingTokenWindow(25).messageCount, 2)
})

test('invalid or repeated sequence numbers do not hide a message', () => {
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

test('a message is special only if the context names it and it comes first', () => {
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

test('a message that is named as both special messages counts once', () => {
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

test('two messages with the same id are both kept', () => {
  const context = Context.fromDict({
    messages: [1, 2, 3].map((number) => ({ id: 'm', role: 'user', token_count: 10, _sequence_number: number })),
  })
  assert.deepEqual(context.planTokenWindow(20).kept, ['m', 'm'])
  assert.deepEqual([context.planTokenWindow(20).tokensBefore, context.planTokenWindow(20).tokensAfter], [30, 20])
  assert.equal(context.rollingTokenWindow(20).messageCount, 2)
  assert.equal(context.rollingSequenceWindow(1).messageCount, 1)
  assert.equal(context.fork().messageCount, 3)
})

test('a window of a session becomes its active context', async () => {
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

test('a plan of a sequence window reports what it keeps, without tokens', () => {
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

test('a plan of a token window reports what it keeps, and the counts', () => {
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
    // Null stands for absent, except for the mark, which is required.
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
      refusedNow(() => call(options), 'InvalidArgumentError', {
        argument: `options.${name}`,
        message: /sequence window/,
      })
    }
  }
  assert.equal(context.rawDict, before)
})

test('a window that is too small because of media says so, and what to do', () => {
  const data = 'iVBORw0KGgo'.repeat(200)
  const context = Context.create()
  context.append(Message.create('user', [ContentPart.image({ type: 'base64', data, media_type: 'image/png' })]))
  const exchange = { boundary: 'exchange' }
  const needed = context.totalTokenCount()
  const textOnly = context.totalTokenCount(undefined, { media: 0 })
  const error = refusedNow(() => context.planTokenWindow(100, undefined, exchange), 'WindowTooSmallError', {
    needed,
    mediaTokens: needed - textOnly,
    message: new RegExp(`${needed - textOnly} of them are the text of media; .*the option media`),
  })
  assert.equal(error.limit, 100)
  assert.equal(context.rollingTokenWindow(100, undefined, { ...exchange, media: 85 }), null)
  // Too small without the image as well, or not counted by the text: then media are not the reason.
  for (const [limit, options] of [
    [textOnly - 1, exchange],
    [100, { ...exchange, media: 500 }],
    [100, { ...exchange, counter: () => 500 }],
  ]) {
    const { message } = refusedNow(() => context.planTokenWindow(limit, undefined, options), 'WindowTooSmallError', {
      mediaTokens: 0,
    })
    assert.doesNotMatch(message, /media/)
  }
  const withReserve = { ...exchange, reserve: 50, hysteresis: { to: 20 } }
  refusedNow(() => context.planTokenWindow(100, undefined, withReserve), 'WindowTooSmallError', {
    needed: needed + 50,
    mediaTokens: needed - textOnly,
  })
})
