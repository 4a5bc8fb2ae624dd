// Broken conversations: an independent implementation of the rules accepts every repaired request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formats } from '../../../examples/agent-loop/formats.mjs'
import { checkError } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { chance, fc, forAll, isUsual, list, nth, sometimes } from '../support/property.mjs'
import { validators } from '../support/schemas.mjs'

const { check, Context, fromMessages, toMessages } = await load('peteos-session')

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const schemas = validators()

const oddPart = fc.constantFrom(
  { type: 'hologram', data: 1 },
  { type: 'text', text: 5 },
  { type: 'tool_use', call_id: 5 },
  { type: 'tool_result', content: 'lost' },
  { type: 'thinking', text: 'Hm.' },
  { type: 'thinking', text: 'Hm.', signature: 'c2ln', id: 'rs_1' },
  { type: 'video', source: { type: 'url', url: 'https://example.org/a.mp4' } },
  { type: 'image', source: { type: 'base64', data: 'AA==', media_type: 'image/tiff' } },
  { type: 'image', source: 'nowhere' },
  { type: 'tool', name: 'look', parameters: 5 },
)
/** A list of one part, with this probability, or of none. */
const maybe = (probability, part) => sometimes(probability, part).map((made) => (made === undefined ? [] : [made]))
const oddly = maybe(0.03, oddPart)
const parts = (...lists) => fc.tuple(...lists).map((made) => made.flat())

const text = fc.record({
  type: fc.constant('text'),
  text: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('yes', 'a longer answer', 'well ') },
    { weight: 1, arbitrary: fc.constantFrom('', ' ') },
  ),
})
/** Invalid arguments of a call. */
const brokenArguments = fc.constantFrom('', '{"a":', '[1]', 7, null, { a: 1 })
/** A call, with its result if it gets one. */
const call = fc.record({
  isRepeated: chance(0.1),
  name: chance(0.05).map((isOdd) => (isOdd ? 'look up' : 'look')),
  args: sometimes(0.04, fc.record({ broken: brokenArguments })),
  isAnswered: chance(0.85),
  content: chance(0.05).map((isOdd) => (isOdd ? ['seen'] : 'seen')),
})
const step = fc.record({
  calls: list(1, 3, call),
  before: parts(oddly, maybe(0.3, text)),
  after: oddly,
  interruption: sometimes(0.1, text),
  /** The result of the call with this number, or of none. */
  stray: sometimes(0.1, fc.nat({ max: 3 })),
  isReversed: chance(0.3),
  role: fc.constantFrom('tool_result', 'tool', 'user'),
  isTogether: fc.boolean(),
  beside: list(4, 4, oddly),
})
const turn = fc.record({
  question: sometimes(0.9, parts(oddly, maybe(1, text))),
  steps: list(0, 3, step),
  answer: sometimes(0.7, parts(oddly, maybe(0.9, text))),
})
/** Tool loops with occasional faults. */
const messyLoops = fc.record({
  turns: list(1, 4, turn),
  wrongRoles: list(20, 20, sometimes(0.04, fc.constantFrom('robot', 'assistant', 'user', 'system'))),
  lost: sometimes(0.1, fc.record({ at: fc.nat(), count: fc.integer({ min: 1, max: 3 }) })),
  isBackward: chance(0.2),
  prompt: parts(oddly, oddly),
  tools: parts(oddly, oddly),
})

function contextOf({ turns, wrongRoles, lost, isBackward, prompt, tools }) {
  const messages = []
  let last = 0
  const say = (role, content) => messages.push({ role: nth(wrongRoles, messages.length) ?? role, content })
  for (const { question, steps, answer } of turns) {
    if (question) say('user', question)
    for (const { calls, before, after, interruption, stray, isReversed, role, isTogether, beside } of steps) {
      const made = calls.map((each) => ({ ...each, call_id: each.isRepeated ? 'again' : `call ${++last}` }))
      const uses = made.map(({ call_id, name, args }) => ({
        type: 'tool_use',
        call_id,
        name,
        arguments: args ? args.broken : '{"at":"it"}',
      }))
      say('assistant', [...before, ...uses, ...after])
      if (interruption) say('user', [interruption])
      const results = made
        .filter(({ isAnswered }) => isAnswered)
        .map(({ call_id, content }) => ({ type: 'tool_result', call_id, content }))
      if (stray !== undefined) {
        results.push({ type: 'tool_result', call_id: made[stray]?.call_id ?? 'nobody', content: 'x' })
      }
      if (isReversed) results.reverse()
      if (isTogether) say(role, [...results, ...beside[0]])
      else for (const [index, result] of results.entries()) say(role, [result, ...nth(beside, index)])
    }
    if (answer) say('assistant', answer)
  }
  if (lost) messages.splice(lost.at % (messages.length + 1), lost.count)
  if (isBackward) messages.reverse()
  return Context.fromDict({
    messages: [
      {
        _type: 'SystemPromptMessage',
        id: 'prompt',
        role: 'system',
        content: [{ type: 'text', text: 'Be brief.' }, ...prompt],
      },
      {
        _type: 'ToolDefinitionsMessage',
        id: 'tools',
        role: 'tool',
        content: [{ type: 'tool', name: 'look' }, ...tools],
      },
      ...messages,
    ],
    system_prompt_message_id: 'prompt',
    tool_definitions_message_id: 'tools',
  })
}

for (const [index, provider] of PROVIDERS.entries()) {
  const { fault } = formats[index]

  test(`${provider}: a repaired request is always accepted, an unrepaired one often refused`, async () => {
    const seen = { thrown: 0, refused: 0, taken: 0 }
    await forAll(1000, messyLoops, (loop) => {
      const context = contextOf(loop)
      const before = context.rawDict
      try {
        seen[fault(toMessages(context, provider)) === null ? 'taken' : 'refused']++
      } catch (error) {
        checkError(error, 'InvalidArgumentError', { argument: /./ })
        seen.thrown++
      }
      const repaired = toMessages(context, provider, { repair: true })
      assert.equal(fault(repaired), null, JSON.stringify(repaired))
      assert.equal(schemas[provider](repaired), null, JSON.stringify(repaired))
      assert.deepEqual(check(fromMessages(repaired, provider), provider), [], JSON.stringify(repaired))
      assert.deepEqual(toMessages(context, provider, { repair: true }), repaired)
      assert.equal(context.rawDict, before)
    })
    // The test is meaningful: most of the conversations cannot be sent unrepaired, for different reasons.
    assert.ok(!isUsual || Math.min(seen.thrown, seen.refused) > 100, JSON.stringify(seen))
  })
}

test("ai-sdk: a repaired request passes the SDK's validator", async () => {
  await forAll(500, messyLoops, (loop) => {
    const repaired = toMessages(contextOf(loop), 'ai-sdk', { repair: true })
    assert.equal(schemas['ai-sdk'](repaired), null, JSON.stringify(repaired))
  })
})
