// Conversations with everything wrong in them: what a repair sends is taken by an independent reading of the rules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formats } from '../../../examples/agent-loop/formats.mjs'
import { load } from '../support/installed.mjs'
import { forSeeds } from '../support/random.mjs'
import { validators } from '../support/schemas.mjs'

const { check, Context, fromMessages, toMessages } = await load('peteos-session')

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const schemas = validators()

/** A tool loop, in which now and then something goes wrong. */
function messy(random) {
  const messages = []
  const say = (role, content) =>
    messages.push({ role: random.chance(0.04) ? random.pick(['robot', 'assistant', 'user', 'system']) : role, content })
  const text = () => ({ type: 'text', text: random.pick(['yes', 'a longer answer', 'well ', ...(random.chance(0.2) ? ['', ' '] : [])]) })
  const odd = () =>
    random.pick([
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
    ])
  const oddly = () => (random.chance(0.03) ? [odd()] : [])
  const broken = (args) => (random.chance(0.04) ? random.pick(['', '{"a":', '[1]', 7, null, { a: 1 }]) : args)
  let last = 0
  for (let turn = random.integer(1, 4); turn > 0; turn--) {
    if (random.chance(0.9)) say('user', [...oddly(), text()])
    for (let step = random.integer(0, 3); step > 0; step--) {
      const ids = Array.from({ length: random.integer(1, 3) }, () => (random.chance(0.1) ? 'again' : `call ${++last}`))
      const calls = ids.map((call_id) => ({
        type: 'tool_use',
        call_id,
        name: random.chance(0.05) ? 'look up' : 'look',
        arguments: broken('{"at":"it"}'),
      }))
      say('assistant', [...oddly(), ...(random.chance(0.3) ? [text()] : []), ...calls, ...oddly()])
      if (random.chance(0.1)) say('user', [text()])
      const results = ids
        .filter(() => random.chance(0.85))
        .map((call_id) => ({ type: 'tool_result', call_id, content: random.chance(0.05) ? ['seen'] : 'seen' }))
      if (random.chance(0.1)) results.push({ type: 'tool_result', call_id: random.pick(['nobody', ...ids]), content: 'x' })
      if (random.chance(0.3)) results.reverse()
      const role = random.pick(['tool_result', 'tool', 'user'])
      if (random.chance(0.5)) say(role, [...results, ...oddly()])
      else for (const result of results) say(role, [result, ...oddly()])
    }
    if (random.chance(0.7)) say('assistant', [...oddly(), ...(random.chance(0.9) ? [text()] : [])])
  }
  if (random.chance(0.1)) messages.splice(random.integer(0, messages.length), random.integer(1, 3))
  if (random.chance(0.2)) messages.reverse()
  const prompt = [{ type: 'text', text: 'Be brief.' }, ...oddly(), ...oddly()]
  const tools = [{ type: 'tool', name: 'look' }, ...oddly(), ...oddly()]
  return Context.fromDict({
    messages: [
      { _type: 'SystemPromptMessage', id: 'prompt', role: 'system', content: prompt },
      { _type: 'ToolDefinitionsMessage', id: 'tools', role: 'tool', content: tools },
      ...messages,
    ],
    system_prompt_message_id: 'prompt',
    tool_definitions_message_id: 'tools',
  })
}

for (const [index, provider] of PROVIDERS.entries()) {
  const { fault } = formats[index]

  test(`${provider}: what is mended is taken, what is not is often refused`, async () => {
    const seen = { thrown: 0, refused: 0, taken: 0 }
    await forSeeds(1000, (random) => {
      const context = messy(random)
      const before = context.rawDict
      try {
        seen[fault(toMessages(context, provider)) === null ? 'taken' : 'refused']++
      } catch (error) {
        assert.equal(error.code, 'ERR_INVALID_ARGUMENT')
        seen.thrown++
      }
      const mended = toMessages(context, provider, { repair: true })
      assert.equal(fault(mended), null, JSON.stringify(mended))
      assert.equal(schemas[provider](mended), null, JSON.stringify(mended))
      assert.deepEqual(check(fromMessages(mended, provider), provider), [], JSON.stringify(mended))
      assert.deepEqual(toMessages(context, provider, { repair: true }), mended)
      assert.equal(context.rawDict, before)
    })
    // That it says something: most of them cannot be sent as they are, for one reason and for the other.
    assert.ok(process.env.PETEOS_SEED || Math.min(seen.thrown, seen.refused) > 100, JSON.stringify(seen))
  })
}

test('ai-sdk: what is mended is by its own validator', async () => {
  await forSeeds(500, (random) => {
    const mended = toMessages(messy(random), 'ai-sdk', { repair: true })
    assert.equal(schemas['ai-sdk'](mended), null, JSON.stringify(mended))
  })
})
