// The text that tokens are counted in is that of Python's `json.dumps(content, ensure_ascii=False)`.
//
// No function of the package returns that text. The test compares its tokens in every encoding, which distinguish the right
// form of a number from any other. main.rs checks natively that the digits are right too.
// `PETEOS_RUNS=100` generates a hundred times as many values, `PETEOS_SEED` others.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fc, list, SEED } from '../package/support/property.mjs'
import { available, needsReference, Oracle } from './oracle.mjs'
import { anyDouble, formChanges, inBetween, spelled, spellings } from './support/numbers.mjs'
import { countTokens, ENCODINGS, MemoryStorage, Session } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const runs = Number(process.env.PETEOS_RUNS ?? 1)
const sample = (count, arbitrary) => fc.sample(arbitrary, { numRuns: count * runs, seed: SEED })
const oracle = available && new Oracle()
after(() => oracle?.close())

/** The tokens of messages whose content holds these values (JSON texts): for each an array by encoding. */
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
    assert.fail(`${wrong.length} of ${values.length} values have different counts:\n${wrong.slice(0, 5).join('\n')}`)
}

test('floats at changes of notation are counted as in Python', needsReference, async () => {
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

test('floats of random bits, halves and tenths are counted as in Python', needsReference, async () => {
  const numbers = fc.oneof({ weight: 3, arbitrary: anyDouble }, { weight: 5, arbitrary: inBetween })
  await assertSameText([...new Set(sample(4000, spelled(numbers)))])
})

test('integers of any size are counted as in Python', needsReference, async () => {
  const values = [
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551616',
    '9007199254740993',
  ]
  const most = 10n ** 60n
  const integers = fc.tuple(fc.bigInt({ min: -most, max: most }), fc.nat({ max: 59 }))
  const generated = sample(
    500,
    integers.map(([number, digits]) => String(number / 10n ** BigInt(digits))),
  )
  await assertSameText([...new Set([...values, ...generated])])
})

test('every character below U+0300 is counted as in Python, literal and escaped', needsReference, async () => {
  const values = []
  for (let code = 0; code < 0x300; code++) {
    values.push(JSON.stringify(String.fromCharCode(code)), `"\\u${code.toString(16).padStart(4, '0')}"`)
  }
  await assertSameText(values)
})

test(
  'strings of random characters, and of characters that JSON escapes, are counted as in Python',
  needsReference,
  async () => {
    // As many characters of one byte as of four.
    const codes = fc.oneof(...[0x20, 0x7f, 0x800, 0xffff, 0x10ffff].map((max) => fc.noBias(fc.nat({ max }))))
    const characters = codes.map((code) => String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? 0x2028 : code))
    const strings = sample(
      600,
      list(0, 12, characters).map((text) => text.join('')),
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
  },
)

test('lone surrogates are counted as in Python', needsReference, async () => {
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

test('nested values of every kind are counted as in Python', needsReference, async () => {
  const scalars = fc.constantFrom(
    ...['null', 'true', 'false', '""', '"é"', '[]', '{}', '1e16', '-0.0', '5e-324', '9223372036854775808', '1.50'],
    ...['"\\u2028"', '"</script>"'],
  )
  const values = fc.letrec((tie) => {
    const items = list(0, 4, tie('value'))
    const keys = list(4, 4, fc.constantFrom('', 'k', '1', '0', '__proto__', 'é', '\\"'))
    const arrays = fc.tuple(items, fc.constantFrom(',', ', ', ' ,\n')).map(([texts, comma]) => `[${texts.join(comma)}]`)
    const objects = fc
      .tuple(items, keys)
      .map(([texts, names]) => `{${texts.map((text, index) => `"${names[index]}${index}" : ${text}`)}}`)
    return { value: fc.oneof({ maxDepth: 5 }, scalars, arrays, objects) }
  }).value
  await assertSameText(sample(500, values))
  // The last value of a repeated key counts, at the position of the first.
  await assertSameText(['{"a":1,"b":2,"a":3}', '{"2":1,"1":2,"__proto__":{"x":1.0}}'])
})
