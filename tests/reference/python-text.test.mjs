// The text that tokens are counted in is that of Python's `json.dumps(content, ensure_ascii=False)`.
//
// No function of the package gives that text: what is compared are its tokens in every encoding, which tell every other
// form of a number from the right one. That the digits are right too is checked by main.rs, natively.
// `PETEOS_RUNS=100` generates a hundred times as many values, `PETEOS_SEED` others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Random } from '../package/support/random.mjs'
import { Oracle, available, needsReference } from './oracle.mjs'
import { ENCODINGS, MemoryStorage, Session, countTokens } from './support/package.mjs'
import { anyDouble, formChanges, inBetween, spellings } from './support/numbers.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const runs = Number(process.env.PETEOS_RUNS ?? 1)
const random = new Random(Number(process.env.PETEOS_SEED ?? 1))
const oracle = available && new Oracle()
after(() => oracle?.close())

/** The tokens of messages whose content holds these values, given as JSON text: for each an array by encoding. */
async function ourCounts(values) {
  const storage = new MemoryStorage()
  const write = (name, text) => storage.write(`parent/texts/${name}.json`, new TextEncoder().encode(text))
  const prelude = values.map((value) => ({
    do: 'append',
    anchor: 'messages',
    message: `{"role":"user","content":${contentOf(value)}}`,
  }))
  await write('session', sessionFile('texts', 'context'))
  await write('context', contextFile('context', { system: null, tools: null, prelude }))
  const context = (await Session.load('parent', 'texts', { storage })).activeContext
  const counts = ENCODINGS.map((encoding) => context.tokenCounts(encoding))
  return values.map((_, index) => counts.map((tokens) => tokens[index]))
}

function contentOf(value) {
  return `[{"type":"data","value":${value}}]`
}

async function assertSameText(values) {
  const ours = await ourCounts(values)
  const question = { do: 'texts', values: values.map(contentOf), encodings: ENCODINGS, before: 'user: ' }
  const { texts, counts } = await oracle.ask(question)
  const wrong = values.flatMap((value, index) => {
    if (ours[index].every((count, encoding) => count === counts[index][encoding])) return []
    const lines = ENCODINGS.flatMap((encoding, at) => {
      if (ours[index][at] === counts[index][at]) return []
      const tokenizer =
        countTokens(`user: ${texts[index]}`, encoding) === counts[index][at]
          ? 'so the text differs'
          : 'and the tokenizer differs'
      return [`    ${encoding}: ${counts[index][at]} in Python, ${ours[index][at]} here, ${tokenizer}`]
    })
    return [[`  ${value}, in Python ${texts[index]}`, ...lines].join('\n')]
  })
  if (wrong.length > 0)
    assert.fail(`${wrong.length} of ${values.length} values are counted otherwise:\n${wrong.slice(0, 5).join('\n')}`)
}

test('floats whose form changes', needsReference, async () => {
  await assertSameText([...new Set(formChanges().flatMap(spellings))])
  await assertSameText([
    '-0',
    '-0.0',
    '0.0',
    '-0e5',
    '0e-400',
    '1e-400',
    '-1e-400',
    '1e400',
    '-1e400',
    '1E400',
    '123e398',
  ])
})

test('floats of random bits, halves and tenths', needsReference, async () => {
  const numbers = Array.from({ length: 1500 * runs }, () => anyDouble(random))
  numbers.push(...Array.from({ length: 500 * runs }, () => inBetween(random)).flat())
  await assertSameText([...new Set(numbers.map((number) => random.pick(spellings(number))))])
})

test('integers of any size', needsReference, async () => {
  const values = [
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551616',
    '9007199254740993',
  ]
  for (let index = 0; index < 500 * runs; index++) {
    const digits = Array.from({ length: random.integer(1, 60) }, () => random.integer(0, 9)).join('')
    values.push(`${random.chance(0.3) ? '-' : ''}${BigInt(digits)}`)
  }
  await assertSameText([...new Set(values)])
})

test('every character below U+0300, alone, as it is and escaped', needsReference, async () => {
  const values = []
  for (let code = 0; code < 0x300; code++) {
    values.push(JSON.stringify(String.fromCharCode(code)), `"\\u${code.toString(16).padStart(4, '0')}"`)
  }
  await assertSameText(values)
})

test('strings of random characters, and what JSON escapes', needsReference, async () => {
  const character = () => {
    const top = random.pick([0x20, 0x7f, 0x800, 0xffff, 0x10ffff])
    const code = random.integer(0, top)
    return code >= 0xd800 && code < 0xe000 ? 0x2028 : code
  }
  const strings = Array.from({ length: 600 * runs }, () =>
    String.fromCodePoint(...Array.from({ length: random.integer(0, 12) }, character)),
  )
  const escaped = strings.map(
    (text) =>
      `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`,
  )
  await assertSameText([
    ...strings.map((text) => JSON.stringify(text)),
    ...escaped,
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"\u2028\u2029\ufeff"',
  ])
})

test('halves of surrogate pairs are counted as Python counts them', needsReference, async () => {
  await assertSameText([
    '"\\ud83d"',
    '"\\ude00"',
    '"a\\ud83db"',
    '"\\ud83d\\ud83d\\ude00"',
    '"\\ude00\\ud83d"',
    '"\\ud83d\\n"',
    '"\\ud83d\\u0041"',
    '{"\\ud83d":1}',
    '"\\ud83d\\ude00"',
    '"\\uD83D\\uDE00"',
  ])
})

test('nested values with every kind in them', needsReference, async () => {
  const scalar = () =>
    random.pick([
      'null',
      'true',
      'false',
      '""',
      '"é"',
      '[]',
      '{}',
      '1e16',
      '-0.0',
      '5e-324',
      '9223372036854775808',
      '1.50',
      '"\\u2028"',
      '"</script>"',
    ])
  const value = (depth) => {
    if (depth === 0 || random.chance(0.3)) return scalar()
    const items = Array.from({ length: random.integer(0, 4) }, () => value(depth - 1))
    if (random.chance(0.5)) return `[${items.join(random.pick([',', ', ', ' ,\n']))}]`
    return `{${items.map((item, index) => `"${random.pick(['', 'k', '1', '0', '__proto__', 'é', '\\"'])}${index}" : ${item}`)}}`
  }
  await assertSameText(Array.from({ length: 500 * runs }, () => value(5)))
  // Of a key that stands twice the last value counts, in the place of the first.
  await assertSameText(['{"a":1,"b":2,"a":3}', '{"2":1,"1":2,"__proto__":{"x":1.0}}'])
})
