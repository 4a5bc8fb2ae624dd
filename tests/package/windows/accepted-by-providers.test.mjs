// What the windows are for: a history that a provider takes is taken after a window as well.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { forSeeds } from '../support/random.mjs'

const { check, ContentPart, Context, SystemPromptMessage } = await load('peteos-session')

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const rules = (context, provider) => check(context, provider).map(({ rule }) => rule)

/** A conversation as agents have them: turns of rounds of calls, with results in one message or in several. */
function conversation(random) {
  const context = Context.create(random.chance(0.5) ? { systemPromptMessage: SystemPromptMessage.create('Be brief.') } : {})
  const words = () => 'some words of no weight '.repeat(random.integer(1, 6)).trim()
  const say = (role, ...content) => context.append({ role, content })
  let calls = 0
  for (let turn = random.integer(1, 6); turn > 0; turn--) {
    const picture = ContentPart.image({ type: 'url', url: 'https://example.org/a.png' })
    say('user', ContentPart.text(words()), ...(random.chance(0.1) ? [picture] : []))
    for (let round = random.chance(0.2) ? random.integer(5, 15) : random.integer(0, 3); round > 0; round--) {
      const ids = Array.from({ length: random.integer(1, 3) }, () => `call_${calls++}`)
      const before = random.chance(0.3) ? [ContentPart.text(words())] : []
      say('assistant', ...before, ...ids.map((id) => ContentPart.toolUse(id, 'look', { at: words() })))
      const results = ids.map((id) => ContentPart.toolResult(id, words()))
      if (random.chance(0.5)) results.reverse()
      const role = random.pick(['tool_result', 'tool', 'user'])
      if (random.chance(0.5)) say(role, ...results)
      else for (const result of results) say(role, result)
    }
    const isEnd = turn === 1 && random.chance(0.5)
    if (!isEnd) say('assistant', ...(random.chance(0.3) ? [ContentPart.thinking(words())] : []), ContentPart.text(words()))
  }
  return context
}

test('thousands of windows pass check for every provider', async () => {
  const seen = { windows: 0, tooSmall: 0, firstRole: 0, parted: 0 }
  await forSeeds(2500, (random) => {
    const context = conversation(random)
    for (const provider of PROVIDERS) assert.deepEqual(rules(context, provider), [], `the history, ${provider}`)
    const total = context.totalTokenCount('o200k_base')
    const options = {
      ...(random.chance(0.3) ? { hysteresis: { to: Math.floor(total / 6) } } : {}),
      ...(random.chance(0.3) ? { pin: [random.pick(context.messages).id] } : {}),
    }
    for (const boundary of ['message', 'exchange', 'turn']) {
      const budget = Math.floor((total * random.integer(20, 99)) / 100)
      let window
      try {
        if (random.chance(0.7)) window = context.rollingTokenWindow(budget, 'o200k_base', { ...options, boundary })
        else window = context.rollingSequenceWindow(random.integer(1, context.messageCount), { pin: options.pin, boundary })
      } catch (error) {
        assert.equal(error.code, 'ERR_WINDOW_TOO_SMALL')
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
          // A window of exchanges may begin with the assistant, or have it speak after a pinned answer; nothing else may be
          // wrong with it.
          const others = found.filter((rule) => rule !== 'wrong-first-role' && !(options.pin && rule === 'repeated-role'))
          assert.deepEqual(others, [], `${boundary}, ${provider}`)
          seen.firstRole += found.length
        }
      }
      window.free()
    }
    context.free()
  })
  assert.ok(seen.windows > 2500 && seen.tooSmall > 100 && seen.firstRole > 100 && seen.parted > 100, JSON.stringify(seen))
})
