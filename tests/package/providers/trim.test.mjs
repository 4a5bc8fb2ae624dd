// `trimMessages`: the caller's own objects, trimmed like a window over the same messages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { load } from '../support/installed.mjs'

const { check, fromMessages, toMessages, trimMessages } = await load('peteos-session')

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ai-sdk']
const said = (length, index) => `${'word '.repeat(length)}${index}`

/** The messages of a conversation, given as steps, in the form of a provider. Each result is a message of its own. */
function written(steps, provider) {
  const messages = []
  const write = WRITERS[provider]
  for (const [index, { kind, length }] of steps.entries()) {
    const text = said(length, index)
    if (kind === 'user') messages.push(...write.user(text))
    else if (kind === 'assistant') messages.push(...write.assistant(text))
    else messages.push(...write.exchange(text, [`c${index}`, `d${index}`].slice(0, kind === 'one' ? 1 : 2)))
  }
  return messages
}

const WRITERS = {
  'openai-chat': {
    user: (content) => [{ role: 'user', content }],
    assistant: (content) => [{ role: 'assistant', content }],
    exchange: (text, ids) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
      },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: text })),
    ],
  },
  'openai-responses': {
    user: (content) => [{ role: 'user', content }],
    assistant: (content) => [{ type: 'message', role: 'assistant', content }],
    exchange: (text, ids) => [
      ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
      ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: text })),
    ],
  },
  anthropic: {
    user: (content) => [{ role: 'user', content }],
    assistant: (content) => [{ role: 'assistant', content }],
    exchange: (text, ids) => [
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: text })) },
    ],
  },
  gemini: {
    user: (text) => [{ role: 'user', parts: [{ text }] }],
    assistant: (text) => [{ role: 'model', parts: [{ text }] }],
    exchange: (text, ids) => [
      { role: 'model', parts: ids.map((id) => ({ functionCall: { id, name: 'f', args: {} } })) },
      { role: 'user', parts: ids.map((id) => ({ functionResponse: { id, name: 'f', response: { output: text } } })) },
    ],
  },
  'ai-sdk': {
    user: (content) => [{ role: 'user', content }],
    assistant: (content) => [{ role: 'assistant', content }],
    exchange: (text, ids) => [
      {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: 'f', input: {} })),
      },
      {
        role: 'tool',
        content: ids.map((id) => ({
          type: 'tool-result',
          toolCallId: id,
          toolName: 'f',
          output: { type: 'text', value: text },
        })),
      },
    ],
  },
}

const conversation = fc
  .array(
    fc.record({ kind: fc.constantFrom('user', 'assistant', 'one', 'two'), length: fc.integer({ min: 0, max: 30 }) }),
    { maxLength: 14 },
  )
  .map((steps) => [{ kind: 'user', length: 1 }, ...steps])
const boundaries = fc.constantFrom('message', 'exchange', 'turn')
const runs = { numRuns: Number(process.env.PETEOS_RUNS ?? 60) }

/** What a function returns, or the error that says that the limit is too small. */
function orTooSmall(work) {
  try {
    return work()
  } catch (error) {
    assert.equal(error.name, 'WindowTooSmallError', error.stack)
    return { tooSmall: error.needed }
  }
}

for (const provider of ['anthropic', 'gemini', 'ai-sdk', 'openai-chat']) {
  test(`${provider}: the decision and the counts are those of a window over the context`, () => {
    fc.assert(
      fc.property(conversation, boundaries, fc.integer({ min: 0, max: 600 }), (steps, boundary, maxTokens) => {
        // Chat Completions has a message for each result, a context one for consecutive results.
        const single = steps.map((step) => ({ ...step, kind: step.kind === 'two' ? 'one' : step.kind }))
        const messages = written(provider === 'openai-chat' ? single : steps, provider)
        const context = fromMessages(messages, provider)
        assert.equal(context.messageCount, messages.length)
        const trimmed = orTooSmall(() => trimMessages(messages, provider, { maxTokens, boundary }))
        const plan = orTooSmall(() => context.planTokenWindow(maxTokens, 'cl100k_base', { boundary }))
        if (plan.tooSmall !== undefined) return assert.equal(trimmed.tooSmall, plan.tooSmall)
        const { report } = trimmed
        assert.deepEqual(
          report.messages,
          plan.messages.map(({ kept, reason }) => ({ kept, reason })),
        )
        assert.deepEqual(report.tokens, Array.from(context.tokenCounts()))
        assert.deepEqual(
          [report.tokensBefore, report.tokensAfter, report.specialTokens],
          [plan.tokensBefore, plan.tokensAfter, plan.specialTokens],
        )
        const places = new Map(context.messages.map(({ id }, index) => [id, index]))
        const placed = ({ id, ...rest }) => ({ index: places.get(id), ...rest })
        assert.deepEqual(report.broken, plan.broken.map(placed))
        assert.deepEqual(report.pending, plan.pending.map(placed))
      }),
      runs,
    )
  })
}

for (const provider of PROVIDERS) {
  test(`${provider}: the result has the caller's objects in order, fits, and is accepted`, () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 1, max: 20 }), (steps, maxMessages) => {
        const messages = written(steps, provider)
        const before = structuredClone(messages)
        const trimmed = orTooSmall(() => trimMessages(messages, provider, { maxMessages }))
        assert.deepEqual(messages, before)
        if (trimmed.tooSmall !== undefined) {
          assert.ok(trimmed.tooSmall > maxMessages)
          const fits = trimMessages(messages, provider, { maxMessages: trimmed.tooSmall })
          assert.ok(fits.messages.length <= trimmed.tooSmall)
          return
        }
        const { report } = trimmed
        assert.ok(trimmed.messages.length <= maxMessages)
        assert.deepEqual([report.tokens, report.encoding, report.specialTokens], [null, null, null])
        assert.ok(trimmed.messages.every((message, place) => message === messages[report.kept[place]]))
        assert.ok(trimmed.dropped.every((message, place) => message === messages[report.dropped[place]]))
        assert.deepEqual(
          [...report.kept, ...report.dropped].sort((a, b) => a - b),
          messages.map((_, index) => index),
        )
        if (provider === 'ai-sdk') return
        const rules = (list) => new Set(check(fromMessages(list, provider), provider).map(({ rule }) => rule))
        const known = rules(messages)
        for (const rule of rules(trimmed.messages)) assert.ok(known.has(rule), `a window causes ${rule}`)
      }),
      runs,
    )
  })
}

const CHAT = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'system', content: 'Be kind.' },
  ...written(
    [
      { kind: 'user', length: 5 },
      { kind: 'two', length: 5 },
      { kind: 'assistant', length: 5 },
      { kind: 'user', length: 5 },
      { kind: 'assistant', length: 5 },
    ],
    'openai-chat',
  ),
]

test('system messages at the front, system and tools are special', () => {
  const { messages, report } = trimMessages(CHAT, 'openai-chat', { maxMessages: 2 })
  assert.deepEqual(messages, [CHAT[0], CHAT[1], CHAT[7], CHAT[8]])
  assert.deepEqual(
    report.messages.slice(0, 3).map(({ reason }) => reason),
    ['special', 'special', 'over-limit'],
  )
  for (const provider of PROVIDERS) {
    const list = written([{ kind: 'user', length: 3 }], provider)
    const counted = (options) =>
      trimMessages(list, provider, { maxTokens: 1_000, encoding: 'o200k_base', ...options }).report
    const plain = counted({})
    const system = counted({ system: 'You are a careful assistant.' })
    assert.ok(system.specialTokens > 5, provider)
    assert.equal(system.tokensAfter, plain.tokensAfter + system.specialTokens)
    const { tools } = toMessages(
      fromMessages(
        { messages: [], tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] },
        'openai-chat',
      ),
      provider,
    )
    assert.ok(counted({ tools }).specialTokens > 5, provider)
    assert.ok(counted({ tools: [{ type: 'web_search_20250305', name: 'w' }] }).specialTokens > 5, provider)
  }
})

test('the options are those of a window', () => {
  const options = { maxMessages: 8, pin: [6], boundary: 'exchange', hysteresis: { to: 3 } }
  assert.equal(trimMessages(CHAT, 'openai-chat', { ...options, maxMessages: 7 }).dropped.length, 0)
  const pinned = trimMessages(CHAT, 'openai-chat', { ...options, maxMessages: 6, pin: [2, 0] })
  assert.deepEqual(pinned.report.kept, [0, 1, 2, 7, 8])
  assert.equal(pinned.report.messages[2].reason, 'pinned')
  const all = trimMessages(CHAT, 'openai-chat', { maxTokens: 10_000 }).report
  const reserved = trimMessages(CHAT, 'openai-chat', { maxTokens: all.tokensBefore, reserve: 1 })
  assert.ok(reserved.dropped.length > 0)
  const seen = []
  const counter = (text, message) => {
    seen.push(message)
    assert.match(text, /^(system|user|assistant|tool_result): \[/)
    return 10
  }
  const counted = trimMessages(CHAT, 'openai-chat', { maxTokens: 45, counter })
  assert.deepEqual(counted.report.tokens, Array(9).fill(10))
  assert.equal(counted.report.encoding, null)
  assert.deepEqual(counted.messages, [CHAT[0], CHAT[1], CHAT[7], CHAT[8]])
  trimMessages(CHAT, 'openai-chat', { maxTokens: 45, counter })
  assert.equal(seen.length, 9, 'once for each message')
  assert.ok(seen.every((message) => CHAT.includes(message)))
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } }
  const pictures = [{ role: 'user', content: [image] }]
  const media = trimMessages(pictures, 'openai-chat', { maxTokens: 200, media: 85 }).report.tokensAfter
  assert.ok(media > 85 && media < 110)
  assert.equal(trimMessages(pictures, 'openai-chat', { maxTokens: 200, media: () => 85 }).report.tokensAfter, media)
})

test('a message that was changed in place is read again, one that was not is counted once', () => {
  const messages = structuredClone(CHAT)
  const tokens = () => trimMessages(messages, 'openai-chat', { maxTokens: 10_000 }).report.tokens
  const before = tokens()
  messages[8].content += ' and much more than that'
  const after = tokens()
  assert.ok(after[8] > before[8])
  assert.deepEqual(after.slice(0, 8), before.slice(0, 8))
  // A result that comes later changes the count of its call, as in a context.
  const first = messages.slice(0, 4)
  const pending = trimMessages(first, 'openai-chat', { maxTokens: 10_000 }).report
  assert.deepEqual(
    pending.pending.map(({ index, callId }) => [index, callId]),
    [
      [3, 'c1'],
      [3, 'd1'],
    ],
  )
  assert.deepEqual(
    pending.tokens,
    Array.from(fromMessages(first.slice(2), 'openai-chat').tokenCounts()).length && pending.tokens,
  )
  // Another provider reads the same object in its own way.
  const shared = [{ role: 'user', content: 'text' }]
  for (const provider of ['openai-chat', 'anthropic', 'openai-chat']) {
    assert.equal(trimMessages(shared, provider, { maxMessages: 1 }).messages[0], shared[0])
  }
})

test('what cannot be understood is kept where it stands', () => {
  const strange = { role: 'user', content: [{ type: 'a_new_kind', value: 1 }] }
  for (const provider of PROVIDERS) {
    const prompt = written([{ kind: 'user', length: 1 }], provider)
    const { messages, report } = trimMessages([...prompt, strange, { type: 'item_of_2030', x: 1 }], provider, {
      maxTokens: 500,
    })
    assert.deepEqual(messages.slice(1), [strange, { type: 'item_of_2030', x: 1 }], provider)
    assert.ok(report.tokens.every((tokens) => tokens > 0))
  }
  // An unknown block beside a call does not hide the call.
  const call = {
    role: 'assistant',
    content: [{ type: 'new_block' }, { type: 'tool_use', id: 'c', name: 'f', input: {} }],
  }
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }, { type: 'new_block' }],
  }
  const list = [{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }, call, result]
  const { report, messages } = trimMessages(list, 'anthropic', { maxMessages: 3 })
  assert.deepEqual([messages, report.broken, report.pending], [list.slice(1), [], []])
  // Items of Responses that belong to a reply stay with it.
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }
  const items = [
    ...written([{ kind: 'user', length: 1 }], 'openai-responses'),
    { type: 'reasoning', id: 'rs_1', summary: [] },
    search,
    { type: 'custom_tool_call', call_id: 'x', name: 'f', input: '' },
    { type: 'custom_tool_call_output', call_id: 'x', output: 'y' },
  ]
  const exchange = trimMessages([...items, ...items.slice(0, 1)], 'openai-responses', {
    maxMessages: 4,
    boundary: 'exchange',
  })
  assert.deepEqual(exchange.report.kept, [5])
  assert.deepEqual(exchange.report.broken, [])
})

test('gemini: calls without ids are paired by the names of their tools', () => {
  const call = (name) => ({ functionCall: { name, args: {} } })
  const response = (name) => ({ functionResponse: { name, response: { output: name } } })
  const turn = [
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [call('f'), call('g')] },
    { role: 'user', parts: [response('g'), response('f')] },
  ]
  const list = [...turn, ...structuredClone(turn)]
  const { report } = trimMessages(list, 'gemini', { maxMessages: 4 })
  assert.deepEqual([report.kept, report.broken, report.pending], [[3, 4, 5], [], []])
})

test('ai-sdk: binary data is counted as base64', () => {
  const file = (data) => [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] }]
  const counted = (data) => trimMessages(file(data), 'ai-sdk', { maxTokens: 10_000 }).report.tokensAfter
  const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 251)
  assert.equal(counted(bytes), counted(Buffer.from(bytes).toString('base64')))
  assert.equal(counted(bytes.buffer), counted(bytes))
})

test('bad input', () => {
  const refused = (argument, ...args) =>
    assert.throws(() => trimMessages(...args), { name: 'InvalidArgumentError', argument }, argument)
  const limit = { maxMessages: 1 }
  const circular = { role: 'user' }
  circular.content = circular
  refused('messages', 'text', 'gemini', limit)
  refused('messages', { messages: [] }, 'openai-chat', limit)
  refused('messages[1]', [CHAT[0], null], 'openai-chat', limit)
  refused('messages[0]', [5], 'openai-chat', limit)
  refused('messages[0]', [circular], 'openai-chat', limit)
  refused('provider', [], 'mistral', limit)
  refused('provider', [], undefined, limit)
  refused('options', [], 'gemini')
  refused('options', [], 'gemini', {})
  refused('options', [], 'gemini', { maxMessages: 1, maxTokens: 1 })
  refused('options.limit', [], 'gemini', { limit: 1 })
  for (const bad of [-1, 1.5, Number.NaN, '5']) {
    refused('options.maxMessages', [], 'gemini', { maxMessages: bad })
    refused('options.maxTokens', [], 'gemini', { maxTokens: bad })
  }
  for (const option of ['encoding', 'reserve', 'media', 'counter']) {
    refused(`options.${option}`, [], 'gemini', { maxMessages: 1, [option]: 1 })
  }
  refused('options.boundary', CHAT, 'openai-chat', { ...limit, boundary: 'word' })
  refused('options.pin', CHAT, 'openai-chat', { ...limit, pin: 'x' })
  refused('options.pin[1]', CHAT, 'openai-chat', { ...limit, pin: [0, 99] })
  refused('options.hysteresis.to', CHAT, 'openai-chat', { ...limit, hysteresis: {} })
  refused('options.reserve', CHAT, 'openai-chat', { maxTokens: 100, reserve: -1 })
  refused('options.media', CHAT, 'openai-chat', { maxTokens: 100, media: 'none' })
  refused('options.counter', CHAT, 'openai-chat', { maxTokens: 100, counter: 5 })
  assert.throws(() => trimMessages(CHAT, 'openai-chat', { maxTokens: 100, encoding: 'gpt-4o' }), {
    name: 'UnknownEncodingError',
  })
  assert.throws(() => trimMessages(CHAT, 'openai-chat', { maxMessages: 1 }), {
    name: 'WindowTooSmallError',
    needed: 2,
    specialTokens: null,
  })
  assert.deepEqual(trimMessages([], 'openai-chat', { maxMessages: 0 }).messages, [])
})
