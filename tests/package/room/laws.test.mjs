// What holds of every step that makes room, over generated conversations of each provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextOf, conversations } from '../support/conversations.mjs'
import { load } from '../support/installed.mjs'
import { chance, fc, fields, forAll, sometimes } from '../support/property.mjs'

const peteos = await load('peteos-session')
const { check, Context, countTokens } = peteos

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const METHODS = {
  clearToolResults: fields({
    keep: sometimes(0.7, fc.nat(4)),
    exclude: sometimes(0.2, fc.constant(['search'])),
    keepErrors: sometimes(0.2, fc.boolean()),
    clearAtLeast: sometimes(0.3, fc.nat(400)),
    inputs: sometimes(0.4, fc.boolean()),
    placeholder: sometimes(0.3, fc.constantFrom('gone', '[…]')),
  }),
  clearThinking: fields({ keepTurns: sometimes(0.7, fc.nat(3)) }),
  clearMedia: fields({ keep: sometimes(0.7, fc.nat(3)) }),
  elide: fc.record({
    maxTokens: fc.integer({ min: 32, max: 80 }),
    head: fc.constantFrom(0, 0.3, 0.5, 1),
    of: fc.constantFrom('tool_result', 'text'),
  }),
  dedupeToolResults: fc.constant({}),
}
const LONG = 'A line of a long result, with 🧑‍🚀 and é in it.\n'.repeat(60)

const anyStep = fc.oneof(
  ...Object.entries(METHODS).map(([method, options]) => fc.record({ method: fc.constant(method), options })),
)
const anyContext = fc.constantFrom('openai-chat', 'anthropic', 'gemini').chain((format) =>
  fc.record({
    conversation: conversations(format),
    lengths: fc.array(chance(0.7), { minLength: 40, maxLength: 40 }),
  }),
)

/** The context of a conversation in which most texts and results are long. */
function longContext({ conversation, lengths }) {
  let index = 0
  const long = (text) => (lengths[index++ % lengths.length] ? text + LONG : text)
  const part = (each) => {
    if (each.type === 'tool_result') return { ...each, content: long(each.content) }
    return each.type === 'text' ? { ...each, text: long(each.text) } : each
  }
  const messages = conversation.messages.map((message) => ({ ...message, content: message.content.map(part) }))
  return contextOf(peteos, { ...conversation, messages })
}

const pairs = (context) =>
  context.messages.map(({ content = [] }) =>
    content.filter(({ type }) => /^tool_/.test(type)).map(({ type, call_id }) => `${type} ${call_id}`),
  )
const ids = (context) => context.messages.map(({ id }) => id)
/** The rules that each provider would apply, by message. */
const findings = (context) =>
  PROVIDERS.flatMap((provider) =>
    check(context, provider).map(({ rule, path }) => `${provider} ${rule} ${/\d+/.exec(path)?.[0]}`),
  )

test('a step changes contents only: pairs, ids and order stay, and no provider finds more', async () => {
  let changed = 0
  await forAll(300, fc.record({ made: anyContext, step: anyStep }), ({ made, step: { method, options } }) => {
    const context = longContext(made)
    const before = JSON.stringify(context.messages)
    const [known, known2] = [findings(context), pairs(context)]
    const fork = context[method](options)
    assert.equal(JSON.stringify(context.messages), before, 'the context itself does not change')
    if (fork === null) return
    changed++
    assert.deepEqual(ids(fork), ids(context))
    assert.deepEqual(pairs(fork), known2)
    for (const finding of findings(fork)) assert.ok(known.includes(finding), `${method}: new finding ${finding}`)
    assert.equal(fork.originContextId, context.id)
    assert.ok(Context.fromDict(fork.rawDict).totalTokenCount() === fork.totalTokenCount())
  })
  assert.ok(changed > 60, `${changed} cases changed something`)
})

test('the report of a step equals a recount, and a plan changes nothing', async () => {
  await forAll(300, fc.record({ made: anyContext, step: anyStep }), ({ made, step: { method, options } }) => {
    const context = longContext(made)
    const encoding = 'o200k_base'
    const plan = context[`plan${method[0].toUpperCase()}${method.slice(1)}`]({ ...options, encoding })
    assert.deepEqual(context.children, [])
    const fork = context[method]({ ...options, encoding })
    const after = fork ?? context
    assert.equal(plan.encoding, encoding)
    assert.equal(plan.tokensBefore, context.totalTokenCount(encoding))
    assert.equal(plan.tokensAfter, after.totalTokenCount(encoding))
    const texts = (each) => each.messages.map((message) => JSON.stringify(message.content))
    const [one, other] = [texts(context), texts(after)]
    const different = ids(context).filter((_, index) => one[index] !== other[index])
    assert.deepEqual([plan.cleared, plan.dropped], [different, []])
    const first = one.findIndex((text, index) => text !== other[index])
    const counts = context.tokenCounts(encoding).slice(0, first === -1 ? undefined : first)
    assert.equal(
      plan.unchangedPrefixTokens,
      counts.reduce((sum, count) => sum + count, 0),
    )
    if (fork !== null) assert.ok(plan.tokensBefore - plan.tokensAfter >= Math.max(1, options.clearAtLeast ?? 0))
  })
})

test('a step is idempotent, and what it cleared stays as it is when the conversation goes on', async () => {
  let changed = 0
  await forAll(300, fc.record({ made: anyContext, more: anyContext, step: anyStep }), ({ made, more, step }) => {
    const { method, options } = step
    const fork = longContext(made)[method](options)
    if (fork === null) return
    changed++
    assert.equal(fork[method](options), null, 'a second time')
    const cleared = new Map(fork.messages.map(({ id, content }) => [id, JSON.stringify(content)]))
    const original = new Map(longContext(made).messages.map(({ id }) => [id]))
    for (const { role, content } of longContext(more).messages) {
      if (role !== 'system' && role !== 'tool') fork.append({ role, content })
    }
    const later = fork[method](options) ?? fork
    for (const { id, content = [] } of later.messages) {
      const was = cleared.get(id)
      if (was === undefined || original.has(id)) continue
      const text = JSON.stringify(content)
      assert.ok(text === was || text.length < was.length, 'nothing comes back')
    }
  })
  assert.ok(changed > 60, `${changed} cases changed something`)
})

test('an elided text has no more tokens than allowed, and is cut between graphemes', async () => {
  const words = fc.constantFrom('word ', 'Wörter ', '🧑‍🚀', '👩‍👩‍👧', 'é', 'ก็', '\n', '한국어', '\r\n', 'x'.repeat(50))
  const texts = fc.array(words, { minLength: 40, maxLength: 400 }).map((list) => list.join(''))
  const cases = fc.record({
    text: texts,
    maxTokens: fc.integer({ min: 32, max: 200 }),
    head: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const segmenter = new Intl.Segmenter()
  const borders = (text) => new Set([...segmenter.segment(text)].map(({ index }) => index).concat(text.length))
  await forAll(300, cases, ({ text, maxTokens, head }) => {
    const context = Context.create()
    context.append({ role: 'user', content: [{ type: 'text', text }] })
    const fork = context.elide({ maxTokens, head, of: 'text' })
    if (countTokens(text) <= maxTokens) return assert.equal(fork, null)
    if (fork === null) return assert.ok(context.planElide({ maxTokens, head, of: 'text' }).cleared.length === 0)
    const elided = fork.messages[0].content[0].text
    assert.ok(countTokens(elided) <= maxTokens)
    const note = /\n\[… (\d+) of (\d+) characters left out …\]\n/.exec(elided)
    const [start, end] = [elided.slice(0, note.index), elided.slice(note.index + note[0].length)]
    assert.ok(text.startsWith(start) && text.endsWith(end))
    assert.equal(Number(note[2]), [...text].length)
    assert.equal(Number(note[1]), [...text].length - [...start].length - [...end].length)
    const known = borders(text)
    assert.ok(known.has(start.length) && known.has(text.length - end.length), 'a grapheme was cut')
  })
})
