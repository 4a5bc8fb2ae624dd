// Any context converts to a request and any value to a context, or to a typed error that names the fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextOf, conversations } from '../support/conversations.mjs'
import { checkError } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { FORMS } from '../support/normal-form.mjs'
import { chance, fc, forAll, isUsual, list, nth, sometimes } from '../support/property.mjs'
import { nested } from '../support/values.mjs'

const peteos = await load('peteos-session')
const { Context, fromMessages, toMessages } = peteos
const PROVIDERS = Object.keys(FORMS)

// prettier-ignore
const KEYS = [
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
]
// prettier-ignore
const VALUES = [
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
  0,
  -1,
  1e300,
  true,
  false,
  null,
]

/** Any JSON, with keys and values of the formats in it. */
const { junk } = fc.letrec((tie) => ({
  junk: fc.oneof(
    { maxDepth: 6, depthIdentifier: 'junk' },
    { weight: 2, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 1, arbitrary: list(0, 3, tie('junk')) },
    { weight: 2, arbitrary: list(0, 5, fc.tuple(fc.constantFrom(...KEYS), tie('junk'))).map(Object.fromEntries) },
  ),
}))

/** A path in a value, and the value to put there. */
const damages = fc.record({ path: list(0, 9, fc.nat()), isRemoved: chance(0.05), value: junk })

function damaged(value, { path, ...change }) {
  const [step, ...rest] = path
  const keys = Object.keys(value ?? '')
  if (step === undefined || typeof value !== 'object' || keys.length === 0) return change.value
  const copy = structuredClone(value)
  const key = nth(keys, step)
  if (change.isRemoved && rest.length === 0) delete copy[key]
  else copy[key] = damaged(copy[key], { path: rest, ...change })
  return copy
}

/** Conversations of any provider: `{ provider, conversation }`. */
const anyConversation = fc
  .constantFrom(...PROVIDERS)
  .chain((provider) => fc.record({ provider: fc.constant(provider), conversation: conversations(provider) }))

function onlyTypedErrors(work, about) {
  try {
    return work()
  } catch (error) {
    checkError(error, 'InvalidArgumentError', { argument: /./ }, about)
    return undefined
  }
}

test('any value converts to a context, or to an error that names a field', async () => {
  const seen = { made: 0, refused: 0 }
  const given = fc.record({ of: anyConversation, damage: damages, junk: sometimes(0.3, junk) })
  await forAll(1500, given, ({ of: { provider, conversation }, damage, junk }) => {
    const value = junk ?? damaged(toMessages(contextOf(peteos, conversation), provider), damage)
    const context = onlyTypedErrors(() => fromMessages(value, provider), provider)
    seen[context === undefined ? 'refused' : 'made']++
    if (context !== undefined) for (const other of PROVIDERS) onlyTypedErrors(() => toMessages(context, other), other)
  })
  assert.ok(!isUsual || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('any context converts to a request, or to an error that names a part; with repair always to a request', async () => {
  const seen = { made: 0, refused: 0 }
  const change = fc.record({
    damage: sometimes(0.2, damages),
    type: fc.constantFrom(undefined, 'text', 'tool_use', 'x'),
    role: sometimes(0.05, fc.constantFrom('robot', 'developer', '')),
  })
  await forAll(600, fc.tuple(anyConversation, list(1, 30, change)), ([{ conversation }, changes]) => {
    let parts = 0
    const messages = contextOf(peteos, conversation).messages.map(({ role, content }, index) => ({
      role: nth(changes, index).role ?? role,
      content: content.map((part) => {
        const { damage, type } = nth(changes, parts++)
        return damage ? { ...damaged(part, damage), type: type ?? part.type } : part
      }),
    }))
    const context = Context.fromDict({ messages })
    const before = context.rawDict
    for (const provider of PROVIDERS) {
      const request = onlyTypedErrors(() => toMessages(context, provider), provider)
      const repaired = toMessages(context, provider, { repair: true })
      seen[request === undefined ? 'refused' : 'made']++
      fromMessages(repaired, provider)
      if (request !== undefined) fromMessages(request, provider)
    }
    assert.equal(context.rawDict, before)
  })
  assert.ok(!isUsual || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('a value that is nested too deeply for a context is refused', () => {
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
      // The limit depends on the depth of the value in the format.
      if (depth <= 980) assert.ok(context !== undefined, `${provider} ${depth}`)
      if (depth >= 1000) assert.equal(context, undefined, `${provider} ${depth}`)
      if (context === undefined) continue
      assert.deepEqual(Context.fromDict(context.rawDict).messageCount, context.messageCount)
      for (const other of PROVIDERS) toMessages(context, other)
    }
  }
})
