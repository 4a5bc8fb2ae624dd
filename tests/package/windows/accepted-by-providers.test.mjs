// The purpose of windows: a provider that accepts a history accepts a window of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkError } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { chance, fc, forAll, isUsual, list, nth, sometimes } from '../support/property.mjs'

const { check, ContentPart, Context, SystemPromptMessage } = await load('peteos-session')

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const rules = (context, provider) => check(context, provider).map(({ rule }) => rule)

const words = fc.integer({ min: 1, max: 6 }).map((count) => 'some words of no weight '.repeat(count).trim())
const round = fc.record({
  before: sometimes(0.3, words),
  calls: list(1, 3, fc.record({ at: words, result: words })),
  isReversed: fc.boolean(),
  role: fc.constantFrom('tool_result', 'tool', 'user'),
  isTogether: fc.boolean(),
})
const turn = fc.record({
  question: words,
  hasPicture: chance(0.1),
  rounds: fc.oneof({ weight: 1, arbitrary: list(5, 15, round) }, { weight: 4, arbitrary: list(0, 3, round) }),
  thinking: sometimes(0.3, words),
  answer: words,
})
/** Conversations of agents: turns of rounds of calls, with results in one message or in several. */
const conversations = fc.record({ hasPrompt: fc.boolean(), turns: list(1, 6, turn), isAnswered: fc.boolean() })

function contextOf({ hasPrompt, turns, isAnswered }) {
  const context = Context.create(hasPrompt ? { systemPromptMessage: SystemPromptMessage.create('Be brief.') } : {})
  const picture = ContentPart.image({ type: 'url', url: 'https://example.org/a.png' })
  const say = (role, ...content) => context.append({ role, content })
  let count = 0
  for (const [index, { question, hasPicture, rounds, thinking, answer }] of turns.entries()) {
    say('user', ContentPart.text(question), ...(hasPicture ? [picture] : []))
    for (const { before, calls, isReversed, role, isTogether } of rounds) {
      const made = calls.map((call) => ({ ...call, id: `call_${count++}` }))
      const uses = made.map(({ id, at }) => ContentPart.toolUse(id, 'look', { at }))
      say('assistant', ...(before ? [ContentPart.text(before)] : []), ...uses)
      const results = made.map(({ id, result }) => ContentPart.toolResult(id, result))
      if (isReversed) results.reverse()
      if (isTogether) say(role, ...results)
      else for (const result of results) say(role, result)
    }
    if (index < turns.length - 1 || isAnswered)
      say('assistant', ...(thinking ? [ContentPart.thinking(thinking)] : []), ContentPart.text(answer))
  }
  return context
}

/** Windows with each boundary, limited to a share of the tokens or to a number of messages. */
const window = fc.record({ isOfTokens: chance(0.7), percent: fc.integer({ min: 20, max: 99 }), count: fc.nat() })
const cases = fc.record({
  conversation: conversations,
  hasHysteresis: chance(0.3),
  pin: sometimes(0.3, fc.nat()),
  windows: fc.tuple(window, window, window),
})

test('a window of exchanges or of turns passes the rules of every provider', async () => {
  const seen = { windows: 0, tooSmall: 0, firstRole: 0, parted: 0 }
  await forAll(2500, cases, ({ conversation, hasHysteresis, pin, windows }) => {
    const context = contextOf(conversation)
    for (const provider of PROVIDERS) assert.deepEqual(rules(context, provider), [], `the history, ${provider}`)
    const total = context.totalTokenCount('o200k_base')
    const options = {
      ...(hasHysteresis && { hysteresis: { to: Math.floor(total / 6) } }),
      ...(pin !== undefined && { pin: [nth(context.messages, pin).id] }),
    }
    for (const [index, boundary] of ['message', 'exchange', 'turn'].entries()) {
      const { isOfTokens, percent, count } = windows[index]
      const budget = Math.floor((total * percent) / 100)
      const most = 1 + (count % context.messageCount)
      let window
      try {
        if (isOfTokens) window = context.rollingTokenWindow(budget, 'o200k_base', { ...options, boundary })
        else window = context.rollingSequenceWindow(most, { pin: options.pin, boundary })
      } catch (error) {
        checkError(error, 'WindowTooSmallError', { code: 'ERR_WINDOW_TOO_SMALL' })
        seen.tooSmall++
        continue
      }
      if (window === null) continue
      seen.windows++
      for (const provider of PROVIDERS) {
        const found = rules(window, provider)
        if (boundary === 'message') {
          seen.parted += found.filter((rule) => rule === 'orphan-result').length
        } else if (boundary === 'turn') {
          assert.deepEqual(found, [], `${boundary}, ${provider}`)
        } else {
          // A window of exchanges may begin with the assistant, or continue with it after a pinned answer; it may have no
          // other fault.
          const others = found.filter(
            (rule) => rule !== 'wrong-first-role' && !(options.pin && rule === 'repeated-role'),
          )
          assert.deepEqual(others, [], `${boundary}, ${provider}`)
          seen.firstRole += found.length
        }
      }
      window.free()
    }
    context.free()
  })
  assert.ok(
    !isUsual || (seen.windows > 2500 && seen.tooSmall > 100 && seen.firstRole > 100 && seen.parted > 100),
    JSON.stringify(seen),
  )
})
