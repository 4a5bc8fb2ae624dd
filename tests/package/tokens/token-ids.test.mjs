// Token ids, and counts up to a limit. The expected ids are those of the Python package tiktoken 0.14.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll, list } from '../support/property.mjs'
import { NO_COUNTS, NO_STRINGS, revoked, shown } from '../support/values.mjs'

const { countTokens, decode, encode } = await load('peteos-session')

const ENCODINGS = ['r50k_base', 'gpt2', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']

test('encode returns the ids of tiktoken', () => {
  assert.deepEqual(encode('Hello, world!'), [9906, 11, 1917, 0])
  assert.deepEqual(encode('Hello, world!', 'r50k_base'), [15496, 11, 995, 0])
  assert.deepEqual(encode('Hello, world!', 'o200k_base'), [13225, 11, 2375, 0])
  assert.deepEqual(encode('', 'o200k_base'), [])
  assert.deepEqual(encode('<|endoftext|>'), [27, 91, 8862, 728, 428, 91, 29], 'text, not a special token')
  assert.deepEqual(encode('x\ud83dy'), encode('x\ufffdy'))
})

test('decode returns the text, and the names of special tokens', () => {
  assert.equal(decode([9906, 11, 1917, 0]), 'Hello, world!')
  assert.equal(decode(Uint32Array.of(13225, 11, 2375, 0), 'o200k_base'), 'Hello, world!')
  assert.equal(decode([]), '')
  assert.equal(decode([100257]), '<|endoftext|>')
  assert.equal(decode([50256], 'gpt2'), '<|endoftext|>')
  assert.equal(decode([50281, 50283], 'p50k_edit'), '<|fim_prefix|><|fim_suffix|>')
  assert.equal(decode([200006, 200008, 200013], 'o200k_harmony'), '<|start|><|message|><|reserved_200013|>')
  const [first] = encode('👩')
  assert.equal(decode([first]), '\ufffd', 'a part of a character')
})

/** Pieces that split in different ways, in characters of one byte and of more. */
const PIECES = [
  ...['word', 'Word', 'wOrD', 'HTTPServer', 'camelCase', 'x', 'é', 'ʰ', 'ไทย', '日本語', 'русский', '한국어', 'ſ'],
  ...[' ', '  ', '       ', '\n', '\r\n', '\t', '\n\n  ', '\u00a0', '\u3000', '\u2028', '\0', '\x7f'],
  ...['1', '22', '333', '4444', '٣', '²', "'s", "'LL", "'ſ", "'", '’s', '.', '...', '","', '/', '//', '{\n', '();\n'],
  ...[
    '👍',
    '👩‍💻',
    '\u0301',
    '\ud800',
    '<|endoftext|>',
    'a'.repeat(40),
    ' '.repeat(70),
    '-'.repeat(130),
    '中'.repeat(50),
  ],
]

// They use different code: counting looks at many bytes at once, encoding at one character after the other.
test('a text has as many tokens as ids, and its ids decode to the text', async () => {
  await forAll(400, list(0, 120, fc.constantFrom(...PIECES)), (pieces) => {
    const content = pieces.join('')
    for (const encoding of ENCODINGS) {
      const ids = encode(content, encoding)
      assert.equal(countTokens(content, encoding), ids.length, JSON.stringify(content))
      assert.equal(decode(ids, encoding), content.toWellFormed?.() ?? Buffer.from(content).toString())
    }
  })
})

test('a word has the same count at every position in a text', () => {
  for (const piece of PIECES) {
    for (let before = 0; before < 140; before++) {
      const content = `${'ab '.repeat(before / 3)}${'.'.repeat(before % 3)}${piece} and more`
      for (const encoding of ['cl100k_base', 'o200k_base'])
        assert.equal(countTokens(content, encoding), encode(content, encoding).length, JSON.stringify(content))
    }
  }
})

test('counting stops at the limit', () => {
  const content = 'One, two, three. '.repeat(200)
  for (const encoding of ENCODINGS) {
    const count = countTokens(content, encoding)
    for (const limit of [0, 1, 2, 63, 64, 65, count - 1, count, count + 1, 2 ** 53 - 1])
      assert.equal(countTokens(content, encoding, { limit }), Math.min(count, limit))
  }
  assert.equal(countTokens(content, undefined, {}), countTokens(content))
  assert.equal(countTokens('', 'cl100k_base', { limit: 0 }), 0)
  const large = 'word '.repeat(20_000_000)
  assert.equal(countTokens(large, 'cl100k_base', { limit: 1000 }), 1000)
})

test('a limit, a text or a token id of the wrong type is refused by name', () => {
  for (const limit of NO_COUNTS.filter((limit) => limit !== undefined && limit !== null))
    refusedNow(
      () => countTokens('x', 'cl100k_base', { limit }),
      'InvalidArgumentError',
      { argument: 'options.limit' },
      shown(limit),
    )
  refusedNow(() => countTokens('x', 'cl100k_base', { limits: 1 }), 'InvalidArgumentError', {
    argument: 'options.limits',
  })
  for (const wrong of [...NO_STRINGS, undefined])
    refusedNow(() => encode(wrong), 'InvalidArgumentError', { argument: 'text' }, shown(wrong))
  for (const wrong of [undefined, null, 5, 'x', {}, { length: 2 }, revoked()])
    refusedNow(() => decode(wrong), 'InvalidArgumentError', { argument: 'tokens' })
  for (const wrong of [[1n], new BigInt64Array(1), [{ valueOf: () => 1 }]])
    refusedNow(() => decode(wrong), 'InvalidArgumentError', { argument: 'tokens[0]' })
})

test('an unknown token id is named with its index', () => {
  for (const wrong of [-1, 0.5, NaN, Infinity, '0', null, undefined, 2 ** 32, 100256, 100261, 2 ** 32 - 1])
    refusedNow(() => decode([0, wrong]), 'InvalidArgumentError', { argument: 'tokens[1]' }, shown(wrong))
  refusedNow(() => decode([200018], 'o200k_harmony2'), 'UnknownEncodingError', { argument: 'encoding' })
  refusedNow(() => decode([50257], 'gpt2'), 'InvalidArgumentError', { argument: 'tokens[0]' })
})
