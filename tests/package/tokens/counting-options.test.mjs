// Counting options: costs of media, custom counters, and tokens by role and part.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { sum } from '../support/model.mjs'
import { fc, fields, forAll, list, sometimes } from '../support/property.mjs'

const { ContentPart, Context, SystemPromptMessage, ToolDefinitionsMessage, countTokens, decode, encode } =
  await load('peteos-session')

const image = (bytes = 3000) =>
  ContentPart.image({ type: 'base64', data: Buffer.alloc(bytes, 7).toString('base64'), media_type: 'image/png' })
const withImages = (count) => {
  const context = Context.create()
  context.append({
    role: 'user',
    content: [ContentPart.text('Look.'), ...Array.from({ length: count }, () => image())],
  })
  context.append({ role: 'assistant', content: [ContentPart.text('I see.')] })
  return context
}
/** The counted text of a message by docs/counting.md: the role, and the content as Python writes it. */
const reference = (role, text) => countTokens(`${role}: ${text}`)

test('an image costs its base64 text, or the cost that the caller sets', () => {
  const context = withImages(2)
  const [look, see] = context.tokenCounts()
  assert.ok(look > 2000, `${look}`)
  const text = reference('user', '[{"type": "text", "text": "Look."}]')
  assert.deepEqual(context.tokenCounts('cl100k_base', { media: 'reference' }), [look, see])
  assert.deepEqual(context.tokenCounts('cl100k_base', { media: 0 }), [text, see])
  assert.deepEqual(context.tokenCounts('cl100k_base', { media: 800 }), [text + 1600, see])
  assert.equal(context.totalTokenCount(undefined, { media: 800 }), text + 1600 + see)
  const asked = []
  const media = (part) => asked.push(part) * 100.5
  assert.deepEqual(context.tokenCounts('cl100k_base', { media }), [text + 101 + 201, see], 'rounded up')
  assert.deepEqual(asked, context.messages[0].content.slice(1))
  context.tokenCounts('cl100k_base', { media })
  assert.equal(asked.length, 2, 'called once for a part')
})

test('a message with only media also has the tokens of its role', () => {
  const context = Context.create()
  for (const kind of ['image', 'video', 'audio', 'pdf']) {
    context.append({ role: 'user', content: [ContentPart[kind]({ type: 'url', url: 'https://example.org/x' })] })
  }
  assert.deepEqual(context.tokenCounts(undefined, { media: 10 }), Array(4).fill(countTokens('user: ') + 10))
})

test('a stored count that includes media is ignored if media have another cost', () => {
  const context = Context.create()
  context.append({ role: 'user', token_count: 5000, content: [image()] })
  context.append({ role: 'user', token_count: 50, content: [ContentPart.text('x')] })
  assert.deepEqual(context.tokenCounts(), [5000, 50])
  assert.deepEqual(context.tokenCounts(undefined, { media: 7 }), [countTokens('user: ') + 7, 50])
})

test('a window and its plan use the counting options', () => {
  const context = withImages(1)
  assert.equal(context.planTokenWindow(500).kept.length, 1)
  const report = context.planTokenWindow(500, 'cl100k_base', { media: 85 })
  assert.equal(report.dropped.length, 0)
  assert.equal(report.tokensByPart.before.media, 85)
  assert.equal(report.tokensBefore, context.totalTokenCount(undefined, { media: 85 }))
  assert.equal(context.rollingTokenWindow(500, undefined, { media: 85 }), null)
  assert.equal(context.rollingTokenWindow(500).messageCount, 1)
})

test('a counter replaces the encoding', () => {
  const context = withImages(1)
  const calls = []
  const counter = (text, message) => {
    calls.push([text, message])
    return 10
  }
  const report = context.planTokenWindow(10, undefined, { counter })
  assert.equal(report.encoding, null)
  assert.deepEqual([report.kept.length, report.tokensBefore, report.tokensAfter], [1, 20, 10])
  assert.deepEqual(Object.values(report.tokens), [10, 10])
  assert.equal(calls.length, 2)
  assert.equal(calls[1][0], 'assistant: [{"type": "text", "text": "I see."}]')
  assert.equal(calls[1][1], context.messages[1])
  assert.match(calls[0][0], /base64/)
  assert.equal(context.rollingTokenWindow(10, undefined, { counter }).messageCount, 1)
  assert.equal(calls.length, 2, 'each message once')
  context.append({ role: 'user', content: [] })
  assert.equal(context.totalTokenCount(undefined, { counter }), 30)
  assert.equal(calls.length, 3)

  const lengths = (text) => text.length / 4
  const [look] = context.tokenCounts(undefined, { counter: lengths, media: 100 })
  assert.equal(look, Math.ceil('user: [{"type": "text", "text": "Look."}]'.length / 4) + 100)
})

test('a faulty counter or media function is a clear error, and changes nothing', () => {
  const context = withImages(1)
  const before = context.rawDict
  for (const result of [-1, NaN, Infinity, 2 ** 53, '5', undefined, null, 5n, {}, Promise.resolve(5)]) {
    for (const name of ['media', 'counter']) {
      const options = { [name]: () => result }
      const expected = { argument: `options.${name}`, message: new RegExp(context.messages[0].id) }
      refusedNow(() => context.planTokenWindow(5, undefined, options), 'InvalidArgumentError', expected)
      refusedNow(() => context.totalTokenCount(undefined, options), 'InvalidArgumentError', expected)
    }
  }
  const mine = new Error('mine')
  const throwing = () => {
    throw mine
  }
  assert.throws(
    () => context.rollingTokenWindow(5, undefined, { counter: throwing }),
    (error) => error === mine,
  )
  assert.throws(
    () => context.tokenCounts(undefined, { media: throwing }),
    (error) => error === mine,
  )
  assert.equal(context.rawDict, before)

  const meddling = () => {
    context.append({ role: 'user' })
    return 1
  }
  refusedNow(() => context.planTokenWindow(5, undefined, { counter: meddling }), 'InvalidArgumentError', {
    argument: 'options',
    message: /changed/,
  })
  const freeing = withImages(1)
  const counter = () => {
    freeing.free()
    return 1
  }
  refusedNow(() => freeing.planTokenWindow(5, undefined, { counter }), 'DisposedError')
  refusedNow(() => context.tokenCounts('nope', { counter: () => 1 }), 'UnknownEncodingError')
  refusedNow(() => context.tokenCounts(undefined, { boundary: 'turn' }), 'InvalidArgumentError', {
    argument: 'options.boundary',
  })
})

test('tokens by role and by part add up to the totals', async () => {
  const word = 'Some words, Größe 日本語 {"x": 1}\n'
  const words = fc.nat({ max: 4 }).map((count) => word.repeat(count))
  const part = fc.oneof(
    words.map(ContentPart.text),
    fc.constant(ContentPart.thinking(word)),
    fc.constant(ContentPart.toolUse('c', 'f', { a: word })),
    words.map((content) => ContentPart.toolResult('c', content)),
    fc.nat({ max: 60 }).map(image),
    fc.constant({ type: 'hologram', data: word }),
  )
  const message = fields({
    role: fc.constantFrom('user', 'assistant', 'tool_result', 'system'),
    content: list(0, 4, part),
    token_count: sometimes(0.2, fc.nat({ max: 200 })),
  })
  const optionSets = [
    {},
    { media: 33 },
    { media: () => 12 },
    { counter: (text) => text.length },
    { counter: (text) => text.length, media: 5 },
  ]
  const cases = fc.record({
    messages: list(0, 8, message),
    options: fc.constantFrom(...optionSets),
    encoding: fc.constantFrom('cl100k_base', 'o200k_base', 'p50k_base'),
    share: fc.nat(),
  })
  await forAll(150, cases, ({ messages, options, encoding, share }) => {
    const context = Context.create({
      systemPromptMessage: SystemPromptMessage.create('Be careful.'),
      toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'f', description: 'd', parameters: {} }]),
    })
    for (const message of messages) context.append(message)
    const budget = share % (context.totalTokenCount(encoding, options) + 1)
    const report = context.planTokenWindow(budget, encoding, options)
    const { tokensBefore, tokensAfter, tokensByRole, tokensByPart } = report
    for (const by of [tokensByRole, tokensByPart]) {
      assert.equal(sum(Object.values(by.before).map((tokens) => ({ tokens }))), tokensBefore)
      assert.equal(sum(Object.values(by.after).map((tokens) => ({ tokens }))), tokensAfter)
    }
    const counts = context.tokenCounts(encoding, options)
    assert.deepEqual(Object.values(report.tokens), counts)
    const kinds = {
      text: 'text',
      thinking: 'thinking',
      tool_use: 'toolCall',
      tool_result: 'toolResult',
      image: 'media',
      tool: 'toolDefinition',
    }
    const present = new Set(
      context.messages.flatMap(({ content }) =>
        content?.length ? content.map(({ type }) => kinds[type] ?? 'other') : ['other'],
      ),
    )
    for (const [kind, tokens] of Object.entries(tokensByPart.before)) {
      if (!present.has(kind)) assert.equal(tokens, 0, kind)
    }
    // Again, with cached counts.
    assert.deepEqual(context.planTokenWindow(budget, encoding, options), report)
  })
})

test('a token belongs to the part in which it begins', () => {
  const context = Context.create()
  const thinking = ContentPart.thinking('Hm, let me see.')
  const call = ContentPart.toolUse('c1', 'look', { at: 'the sky' })
  context.append({ role: 'assistant', content: [thinking, call] })
  const { toolCall, thinking: thought, ...others } = context.planTokenWindow(1000).tokensByPart.before
  const ofThinking = 'assistant: [{"type": "thinking", "text": "Hm, let me see."}'
  const text = `${ofThinking}, {"type": "tool_use", "call_id": "c1", "name": "look", "arguments": "{\\"at\\":\\"the sky\\"}", "approval_status": "pending"}]`
  const expected = { thinking: 0, toolCall: 0 }
  let start = 0
  for (const token of encode(text)) {
    expected[start < ofThinking.length ? 'thinking' : 'toolCall']++
    start += decode([token]).length
  }
  assert.deepEqual({ thinking: thought, toolCall }, expected)
  assert.equal(thought + toolCall, context.totalTokenCount())
  assert.deepEqual(Object.values(others), [0, 0, 0, 0, 0])
})
