// Whatever contexts hold and callers hand in: a request or a context, or an error that names a field; never a trap.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { contextOf, conversation } from '../support/conversations.mjs'
import { FORMS } from '../support/normal-form.mjs'
import { forSeeds } from '../support/random.mjs'
import { nested } from '../support/values.mjs'

const peteos = await load('peteos-session')
const { Context, fromMessages, toMessages } = peteos
const PROVIDERS = Object.keys(FORMS)

/** Any JSON, often such as a format has. */
function junk(random, depth = 0) {
  const KEYS = [
    ...[
      'type',
      'role',
      'content',
      'text',
      'messages',
      'input',
      'contents',
      'parts',
      'id',
      'call_id',
      'name',
      'arguments',
    ],
    ...[
      'tools',
      'system',
      'source',
      'data',
      'url',
      'media_type',
      'mimeType',
      'functionCall',
      'functionResponse',
      'response',
    ],
    ...[
      'tool_calls',
      'function',
      'tool_call_id',
      'tool_use_id',
      'toolCallId',
      'toolName',
      'output',
      'value',
      'summary',
      '__proto__',
    ],
  ]
  const VALUES = [
    ...[
      'user',
      'assistant',
      'system',
      'model',
      'tool',
      'text',
      'tool_use',
      'tool_result',
      'image',
      'image_url',
      'message',
      'base64',
      'url',
    ],
    ...[
      'function_call',
      'function_call_output',
      'reasoning',
      'thinking',
      'tool-call',
      'tool-result',
      'function',
      'tool',
      '',
      '{}',
      'x',
    ],
    ...[0, -1, 1e300, true, false, null],
  ]
  const kind = depth > 6 ? 0 : random.integer(0, 4)
  if (kind <= 1) return random.pick(VALUES)
  if (kind === 2) return Array.from({ length: random.integer(0, 3) }, () => junk(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: random.integer(0, 5) }, () => [random.pick(KEYS), junk(random, depth + 1)]),
  )
}

/** Changes a value somewhere. */
function damaged(random, value) {
  if (random.chance(0.1) || typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return junk(random, 4)
  const copy = structuredClone(value)
  const key = random.pick(Object.keys(copy))
  if (random.chance(0.05)) delete copy[key]
  else copy[key] = damaged(random, copy[key])
  return copy
}

function onlyTypedErrors(work, about) {
  try {
    return work()
  } catch (error) {
    assert.equal(error.constructor, peteos.InvalidArgumentError, `${about}: ${error.stack}`)
    return undefined
  }
}

test('any value: a context, or an error that names a field', async () => {
  const seen = { made: 0, refused: 0 }
  await forSeeds(1500, (random) => {
    const provider = random.pick(PROVIDERS)
    const whole = toMessages(contextOf(peteos, conversation(random, provider)), provider)
    const value = random.chance(0.3) ? junk(random) : damaged(random, whole)
    const context = onlyTypedErrors(() => fromMessages(value, provider), provider)
    seen[context === undefined ? 'refused' : 'made']++
    if (context !== undefined) for (const other of PROVIDERS) onlyTypedErrors(() => toMessages(context, other), other)
  })
  assert.ok(process.env.PETEOS_SEED || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('any context: a request, or an error that names a part; with repair a request', async () => {
  const seen = { made: 0, refused: 0 }
  await forSeeds(600, (random) => {
    const { messages } = contextOf(peteos, conversation(random, random.pick(PROVIDERS)))
    const broken = messages.map(({ role, content }) => ({
      role: random.chance(0.05) ? random.pick(['robot', 'developer', '']) : role,
      content: content.map((part) =>
        random.chance(0.2)
          ? { ...damaged(random, part), type: random.pick([part.type, 'text', 'tool_use', 'x']) }
          : part,
      ),
    }))
    const context = Context.fromDict({ messages: broken })
    const before = context.rawDict
    for (const provider of PROVIDERS) {
      const request = onlyTypedErrors(() => toMessages(context, provider), provider)
      const mended = toMessages(context, provider, { repair: true })
      seen[request === undefined ? 'refused' : 'made']++
      fromMessages(mended, provider)
      if (request !== undefined) fromMessages(request, provider)
    }
    assert.equal(context.rawDict, before)
  })
  assert.ok(process.env.PETEOS_SEED || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('values that are nested deeply', () => {
  for (const depth of [400, 900, 980, 990, 995, 1000, 5000]) {
    const deep = { a: nested(depth) }
    const values = {
      'openai-chat': { messages: [], tools: [{ type: 'function', function: { name: 'f', parameters: deep } }] },
      'openai-responses': { input: [], tools: [{ type: 'function', name: 'f', parameters: deep, strict: false }] },
      anthropic: {
        messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: deep }] }],
        tools: [{ name: 'f', input_schema: deep }],
      },
      gemini: {
        contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: deep } }] }],
        tools: [{ functionDeclarations: [{ name: 'f', parameters: deep }] }],
      },
      'ai-sdk': {
        messages: [
          { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: deep }] },
        ],
        tools: { f: { inputSchema: deep } },
      },
    }
    for (const [provider, value] of Object.entries(values)) {
      const context = onlyTypedErrors(() => fromMessages(value, provider), `${provider} ${depth}`)
      // Where the limit is, depends on how far up the format has the value.
      if (depth <= 980) assert.ok(context !== undefined, `${provider} ${depth}`)
      if (depth >= 1000) assert.equal(context, undefined, `${provider} ${depth}`)
      if (context === undefined) continue
      assert.deepEqual(Context.fromDict(context.rawDict).messageCount, context.messageCount)
      for (const other of PROVIDERS) toMessages(context, other)
    }
  }
})
