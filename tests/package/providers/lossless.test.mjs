// What a provider sent comes back to it: shapes of requests of the newest SDKs, there and back, and to the other providers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { load } from '../support/installed.mjs'
import { fc, forAll } from '../support/property.mjs'
import { SHAPES } from './shapes/index.mjs'

const { check, fromMessages, toMessages } = await load('peteos-session')
const NAMES = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ai-sdk']

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)

/** The defaults of docs/providers.md: fields that are the same if they are absent. */
const DEFAULTS = {
  'openai-responses': ({ key, value }) =>
    (key === 'type' && value === 'message') ||
    (key === 'status' && value === 'completed') ||
    (['annotations', 'logprobs'].includes(key) && value.length === 0),
  gemini: ({ key, value }) => key === 'role' && value === 'user',
}
const TEXTS = { 'openai-responses': ['input_text', 'output_text'] }

/** The normal form of docs/providers.md. */
function normal(value, provider) {
  if (Array.isArray(value)) return value.map((item) => normal(item, provider))
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(([key, field]) => {
    if (field === undefined || (field === null && key !== 'content')) return false
    return !DEFAULTS[provider]?.({ key, value: field })
  })
  return Object.fromEntries(
    fields.map(([key, field]) => {
      if (key === 'content') return [key, content(field, provider)]
      return [
        key,
        key === 'system' && typeof field === 'string' ? [{ type: 'text', text: field }] : normal(field, provider),
      ]
    }),
  )
}

function content(value, provider) {
  if (typeof value === 'string') return [{ text: value }]
  const items = normal(value, provider)
  if (!Array.isArray(items) || items.length !== 1) return items
  const [item] = items
  const isPlain =
    isObject(item) &&
    Object.keys(item).length === 2 &&
    (TEXTS[provider] ?? ['text']).includes(item.type) &&
    'text' in item
  return isPlain ? [{ text: item.text }] : items
}

/** Repeats what JSON does, which drops fields that are undefined. */
const copy = (value) => JSON.parse(JSON.stringify(value))
const lossesOf = (work) => {
  const losses = []
  const value = work((loss) => losses.push(loss))
  return { value, losses }
}

test('request shapes of all SDKs come back as they were', (t) => {
  const rows = new Map()
  const failed = []
  for (const { provider, place, name, request } of SHAPES) {
    const row = rows.get(`${provider}, ${place}`) ?? { shapes: 0, back: 0 }
    rows.set(`${provider}, ${place}`, row)
    row.shapes += 1
    try {
      const { value: context, losses } = lossesOf((onLoss) => fromMessages(request, provider, { onLoss }))
      const { value: again, losses: more } = lossesOf((onLoss) => toMessages(context, provider, { onLoss }))
      assert.deepEqual(normal(again, provider), normal(copy(request), provider))
      assert.deepEqual([...losses, ...more], [], 'nothing is reported that came back')
      assert.deepEqual(toMessages(fromMessages(again, provider), provider), again, 'byte-stable')
      row.back += 1
    } catch (error) {
      failed.push(`${provider}, ${name}: ${error.message}`)
    }
  }
  for (const [name, { shapes, back }] of rows) t.diagnostic(`${name}: ${back} of ${shapes}`)
  assert.deepEqual(failed, [])
  assert.ok(SHAPES.length >= 300, `${SHAPES.length} shapes`)
})

/** A request with a field that nobody knows in one of its messages or blocks, chosen by a number. */
function withUnknownField(request, choice, value) {
  const changed = copy(request)
  const list = changed.messages ?? changed.input ?? changed.contents
  const places = list.flatMap((entry) => [entry, ...[entry.content, entry.parts].filter(Array.isArray).flat()])
  places[choice % places.length].field_of_tomorrow = value
  return changed
}

test('fields that do not exist yet come back, or are reported', async () => {
  const cases = fc.record({
    shape: fc.constantFrom(...SHAPES),
    choice: fc.nat(20),
    value: fc.jsonValue({ maxDepth: 2 }),
  })
  await forAll(400, cases, ({ shape: { provider, request }, choice, value }) => {
    const given = withUnknownField(request, choice, value)
    // REST's names of Gemini are given back as those of the SDK.
    const expected = copy(normal(given, provider))
    const { value: context, losses } = lossesOf((onLoss) => fromMessages(given, provider, { onLoss }))
    const { value: again, losses: more } = lossesOf((onLoss) => toMessages(context, provider, { onLoss }))
    const isSame = isDeepStrictEqual(normal(provider === 'gemini' ? renamed(again) : again, provider), expected)
    assert.equal([...losses, ...more].length === 0, isSame, JSON.stringify({ provider, given, again }))
  })
})

const renamed = (value) => JSON.parse(JSON.stringify(value).replaceAll('"fieldOfTomorrow"', '"field_of_tomorrow"'))

test('every shape converts to every provider with repair, and passes its check', () => {
  const failed = []
  for (const { provider, name, request } of SHAPES) {
    const context = fromMessages(request, provider)
    for (const other of NAMES) {
      try {
        const { value: sent } = lossesOf((onLoss) => toMessages(context, other, { repair: true, onLoss }))
        const back = fromMessages(sent, other)
        assert.deepEqual(toMessages(fromMessages(copy(sent), other), other), toMessages(back, other))
        if (other !== 'ai-sdk') assert.deepEqual(check(back, other), [])
      } catch (error) {
        failed.push(`${provider}, ${name} to ${other}: ${error.message}`)
      }
    }
  }
  assert.deepEqual(failed, [])
})
