// Counting tokens. The expected numbers are those of the Python package tiktoken 0.14.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule } from '../support/files.mjs'
import { load, packageDir, require } from '../support/installed.mjs'
import { fc, forAll, list } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { fileText, pythonText, Raw } from '../support/text.mjs'
import { NO_STRINGS, shown, text } from '../support/values.mjs'

const {
  Context,
  ContentPart,
  Session,
  SystemPromptMessage,
  ToolDefinitionsMessage,
  countTokens,
  encodingForModel,
  loadEncoding,
} = await load('peteos-session')

const ENCODINGS = ['r50k_base', 'gpt2', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']

/** A text, and its tokens in each of the encodings. */
const COUNTS = [
  ['', [0, 0, 0, 0, 0, 0, 0]],
  ['Hello, world!', [4, 4, 4, 4, 4, 4, 4]],
  ['def f(x):\n    return x ** 2  # squared\n\n\tif True:\n', [22, 22, 20, 20, 17, 17, 17]],
  ['Größenordnung und Straßenbahn — naïve café', [16, 16, 16, 16, 14, 11, 11]],
  ['日本語のテキストと中文字符混在한국어', [32, 32, 32, 32, 19, 13, 13]],
  ['👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301', [26, 26, 26, 26, 29, 20, 20]],
  ['<|endoftext|> and <|im_start|>user<|im_end|> <|fim_prefix|>', [31, 31, 31, 31, 26, 27, 27]],
  [`${' '.repeat(50)}x${'\n'.repeat(7)}\r\n\t\t`, [58, 58, 12, 12, 5, 5, 5]],
  ['3.14159265358979 1234567890 0x1F', [16, 16, 16, 16, 17, 17, 17]],
  ["I'll can't WE'VE she'd İ'LL", [13, 13, 13, 13, 12, 9, 9]],
  ['a'.repeat(2000), [500, 500, 500, 500, 250, 250, 250]],
  ['مرحبا بالعالم', [12, 12, 12, 12, 10, 4, 4]],
  ['a\0b\x7f\u2028\ufeffc', [10, 10, 10, 10, 8, 7, 7]],
  // A lone surrogate is U+FFFD, as in tiktoken.
  ['x\ud83dy', [3, 3, 3, 3, 3, 3, 3]],
  ['\udc00', [1, 1, 1, 1, 1, 1, 1]],
]

for (const [index, encoding] of ENCODINGS.entries()) {
  test(`countTokens counts as tiktoken in ${encoding}`, () => {
    for (const [content, counts] of COUNTS)
      assert.equal(countTokens(content, encoding), counts[index], JSON.stringify(content))
  })
}

test('the default encoding is cl100k_base', () => {
  for (const [content, counts] of COUNTS) {
    assert.equal(countTokens(content), counts[4])
    assert.equal(countTokens(content, undefined), counts[4])
  }
})

test('a lone surrogate counts as U+FFFD, in a text and in a message', () => {
  for (const encoding of ENCODINGS) {
    assert.equal(countTokens('x\ud83dy', encoding), countTokens('x\ufffdy', encoding))
    const context = Context.create()
    context.append(text('x\ud83dy'))
    context.append(text('x\ufffdy'))
    const [half, whole] = context.tokenCounts(encoding)
    assert.equal(half, whole)
  }
})

test('encodingForModel returns the encoding of a model', () => {
  const models = {
    o200k_base: [
      'gpt-4o',
      'gpt-4o-mini',
      'gpt-4o-2024-08-06',
      'o1',
      'o3-mini',
      'gpt-4.1',
      'gpt-5',
      'chatgpt-4o-latest',
      'ft:gpt-4o:acme::x',
    ],
    o200k_harmony: ['gpt-oss-20b', 'gpt-oss-120b'],
    cl100k_base: ['gpt-4', 'gpt-4-0613', 'gpt-3.5-turbo', 'text-embedding-3-small', 'ft:gpt-3.5-turbo:x'],
    p50k_base: ['text-davinci-003', 'code-davinci-002'],
    p50k_edit: ['text-davinci-edit-001'],
    r50k_base: ['davinci', 'ada'],
  }
  for (const [encoding, names] of Object.entries(models)) {
    for (const name of names) assert.equal(encodingForModel(name), encoding, name)
  }
  for (const name of ['claude-3', '', 'gpt', '__proto__', 'toString']) {
    const error = refusedNow(() => encodingForModel(name), 'UnknownEncodingError', { argument: 'model' }, name)
    assert.deepEqual([...error.known].sort(), [...ENCODINGS].sort())
  }
  for (const wrong of [...NO_STRINGS, undefined]) {
    refusedNow(() => encodingForModel(wrong), 'InvalidArgumentError', { argument: 'model' }, shown(wrong))
  }
})

test('an unknown encoding is refused with the names of the known ones', async () => {
  const session = Session.create('a', { storage: new RecordingStorage() })
  const context = session.activeContext
  context.append(text('x'))
  const before = context.rawDict
  const calls = [
    (encoding) => countTokens('x', encoding),
    (encoding) => context.totalTokenCount(encoding),
    (encoding) => context.tokenCounts(encoding),
    (encoding) => context.rollingTokenWindow(1, encoding),
    (encoding) => context.planTokenWindow(1, encoding),
    (encoding) => session.rollingTokenWindow(1, encoding),
  ]
  for (const call of calls) {
    for (const name of [
      'cl100k',
      'CL100K_BASE',
      '',
      ' cl100k_base',
      '__proto__',
      'constructor',
      'gpt-4o',
      'x'.repeat(10000),
    ]) {
      const error = refusedNow(() => call(name), 'UnknownEncodingError', {
        argument: 'encoding',
        message: /cl100k_base.*o200k_base/,
      })
      assert.deepEqual([...error.known].sort(), [...ENCODINGS].sort())
      assert.equal(
        error.message.endsWith("it is a model, whose encoding is encodingForModel('gpt-4o')"),
        name === 'gpt-4o',
      )
    }
    for (const wrong of NO_STRINGS)
      refusedNow(() => call(wrong), 'InvalidArgumentError', { argument: 'encoding' }, shown(wrong))
  }
  await refused(() => loadEncoding('nope'), 'UnknownEncodingError', { argument: 'encoding' })
  for (const wrong of NO_STRINGS)
    await refused(() => loadEncoding(wrong), 'InvalidArgumentError', { argument: 'encoding' }, shown(wrong))
  assert.equal(context.rawDict, before)
})

test('countTokens accepts only strings', () => {
  for (const wrong of [...NO_STRINGS, undefined]) {
    refusedNow(() => countTokens(wrong), 'InvalidArgumentError', { argument: 'text' }, shown(wrong))
  }
})

test('the tokens of a message are those of its role and its content as Python writes it', () => {
  const context = Context.create({
    systemPromptMessage: SystemPromptMessage.create('Be "careful".\n'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([
      { name: 'f', description: 'é', parameters: { type: 'object', n: 1.5, none: null, yes: true } },
    ]),
  })
  context.append({ role: 'user' })
  context.append({ role: 'user', content: [] })
  context.append(text('tab\t quote" back\\ nul\0 del\x7f sep\u2028 日本 🏳️‍🌈 /'))
  context.append({
    role: 'assistant',
    content: [ContentPart.thinking('x'), ContentPart.toolUse('c', 'f', { a: [1, 2] })],
  })
  context.append({
    role: 'tool',
    content: [ContentPart.toolResult('c', 'out'), { type: 'new', deep: [[], {}, [{ a: {} }]] }],
  })
  for (const encoding of ENCODINGS) {
    const expected = context.messages.map(({ role, content }) =>
      countTokens(`${role}: ${content?.length ? pythonText(content) : ''}`, encoding),
    )
    assert.deepEqual(context.tokenCounts(encoding), expected)
    assert.equal(
      context.totalTokenCount(encoding),
      expected.reduce((total, count) => total + count, 0),
    )
  }
})

test('numbers in a file are counted as Python writes them', async () => {
  // The number in the file, and the text that Python writes for it.
  const numbers = [
    ['1.0', '1.0'],
    ['1e16', '1e+16'],
    ['1E5', '100000.0'],
    ['9223372036854775808', '9223372036854775808'],
    ['-0', '0'],
    ['-0.0', '-0.0'],
    ['1e-7', '1e-07'],
    ['0.0001', '0.0001'],
    ['123456789012345678.0', '1.2345678901234568e+17'],
    ['1e400', 'Infinity'],
    ['2.50', '2.5'],
  ]
  const part = (number) => [{ type: 'x', n: new Raw(number) }]
  const messages = numbers.map(([number], index) => ({ id: `m${index}`, role: 'user', content: part(number) }))
  const files = { 'a/s/session.json': '{"active_context_id": "c"}', 'a/s/c.json': fileText({ id: 'c', messages }) }
  const { activeContext } = await Session.load('a', 's', { storage: new RecordingStorage(files) })
  const expected = numbers.map(([, python]) => countTokens(`user: ${pythonText(part(python))}`))
  assert.deepEqual(activeContext.tokenCounts(), expected)
})

test('token_count applies only to cl100k_base', () => {
  const context = Context.create()
  context.append(text('Hello', { token_count: 1000 }))
  const real = (encoding) => countTokens('user: [{"type": "text", "text": "Hello"}]', encoding)
  for (const encoding of ENCODINGS) {
    assert.deepEqual(context.tokenCounts(encoding), [encoding === 'cl100k_base' ? 1000 : real(encoding)], encoding)
  }
  assert.equal(context.totalTokenCount(), 1000)
})

test('a token_count in a file that is not a count is ignored', async () => {
  const messages = [-1, 1.5, '7', null, 7].map((token_count, index) => ({ id: `m${index}`, role: 'user', token_count }))
  const counts = Context.fromDict({ messages }).tokenCounts()
  assert.deepEqual(counts, [...Array(4).fill(countTokens('user: ')), 7])
})

test('a changed message is counted again', () => {
  const context = Context.create()
  const { id } = context.append(text('short'))
  const before = context.totalTokenCount()
  context.updateMessage(id, { content: [{ type: 'text', text: 'a much longer text than there was before' }] })
  assert.ok(context.totalTokenCount() > before)
  context.rawDict = { ...context.rawDict, messages: [] }
  assert.equal(context.totalTokenCount(), 0)
})

test('counts do not depend on earlier counts', async () => {
  const pieces = ['word', ' ', '\n', '🏳️‍🌈', '日', '<|endoftext|>', '\ud800', '!!!', '9', '\u0301', '\0']
  await forAll(60, list(0, 60, fc.constantFrom(...pieces)), (chosen) => {
    const content = chosen.join('')
    for (const encoding of ENCODINGS) {
      const count = countTokens(content, encoding)
      assert.equal(countTokens(content, encoding), count)
      assert.ok(Number.isInteger(count) && count >= 0 && count <= Buffer.byteLength(content))
    }
  })
})

/** A million characters of one kind, and their tokens in cl100k_base, o200k_base and r50k_base. */
const LARGE = [
  ['a', [125_000, 125_000, 250_000]],
  ['日', [1_000_000, 500_000, 2_000_000]],
  ['\n', [31_250, 62_500, 500_000]],
  ['  x', [666_666, 666_666, 666_666]],
  // In o200k_base tiktoken itself fails on these (its regular expressions overflow), so these counts are ours.
  [' ', [7_813, 7_813, 1_000_000]],
  ['\t', [62_500, 62_500, 1_000_000]],
]

test('large texts can be counted, and other texts after them', () => {
  for (const [unit, counts] of LARGE) {
    const content = unit.repeat(1_000_000 / unit.length)
    for (const [index, encoding] of ['cl100k_base', 'o200k_base', 'r50k_base'].entries()) {
      assert.equal(countTokens(content, encoding), counts[index], `${JSON.stringify(unit)} ${encoding}`)
      assert.equal(countTokens('Hello, world!', encoding), 4)
    }
  }
})

test('a large message can be counted in every way, and the session is unchanged', async () => {
  const session = Session.create('a', { storage: new RecordingStorage() })
  const context = session.activeContext
  context.append(text('first'))
  context.append(text(' '.repeat(1_000_000)))
  const before = [context.rawDict, session.rawDict]
  const total = context.totalTokenCount('o200k_base')
  assert.ok(total > 7_813 && total < 7_900, String(total))
  assert.equal(context.planTokenWindow(10_000_000, 'o200k_base').tokensBefore, total)
  assert.equal(session.rollingTokenWindow(100_000_000, 'o200k_base'), null)
  assert.deepEqual([context.rawDict, session.rawDict], before)
  assert.equal(session.activeContext, context)
  await session.save()
})

test('loadEncoding does nothing in Node', async () => {
  for (const encoding of ENCODINGS) assert.equal(await loadEncoding(encoding), undefined)
  await Promise.all(ENCODINGS.map((encoding) => loadEncoding(encoding)))
  assert.equal(countTokens('Hello, world!', 'o200k_base'), 4)
})

test('a vocabulary is loaded at the first count', async () => {
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const read = []
    const real = fs.readFileSync
    fs.readFileSync = (path, ...rest) => (read.push(String(path)), real(path, ...rest))
    syncBuiltinESMExports()
    const { Session, MemoryStorage, countTokens } = await import('peteos-session')
    const session = Session.create('a', { storage: new MemoryStorage() })
    session.activeContext.append({ role: 'user' })
    session.activeContext.append({ role: 'user' })
    session.rollingSequenceWindow(1)
    await session.save()
    const vocabularies = () => read.filter((path) => path.includes('encodings')).map((path) => path.split('/').at(-1))
    const before = vocabularies()
    countTokens('x', 'p50k_edit')
    countTokens('x', 'p50k_base')
    console.log(JSON.stringify({ before, after: vocabularies() }))
  `)
  assert.deepEqual(JSON.parse(output), { before: [], after: ['p50k_base.bin'] })
})

test('a vocabulary from the caller is checked', async () => {
  const path = (name) => JSON.stringify(require.resolve(`peteos-session/encodings/${name}.bin`))
  const output = await runModule(`
    import { readFileSync } from 'node:fs'
    import { init, loadEncoding, countTokens } from 'peteos-session/slim'
    await init(readFileSync(${JSON.stringify(join(packageDir, 'dist', 'peteos_session_bg.wasm'))}))
    const errors = []
    const attempt = async (work) => {
      try { await work(); errors.push('none') } catch (error) { errors.push(error.name) }
    }
    const good = readFileSync(${path('cl100k_base')})
    await attempt(() => countTokens('x'))
    await attempt(() => loadEncoding('cl100k_base'))
    for (const bad of [new Uint8Array(), good.subarray(0, 1000), good.subarray(1), new Uint8Array(1000).fill(255),
      Uint8Array.from([...good, 0]), readFileSync(${path('o200k_base')})]) {
      await attempt(() => loadEncoding('cl100k_base', bad))
    }
    await attempt(() => loadEncoding('cl100k_base', 'http://127.0.0.1:1/x.bin'))
    await attempt(() => loadEncoding('cl100k_base', new Response('gone', { status: 404 })))
    await attempt(() => loadEncoding('cl100k_base', Promise.reject(new Error('no'))))
    await attempt(() => loadEncoding('cl100k_base', 7))
    await attempt(() => loadEncoding('cl100k_base', {}))
    await attempt(() => countTokens('x'))
    await attempt(() => loadEncoding('cl100k_base', good))
    await attempt(() => loadEncoding('o200k_base', new Response(readFileSync(${path('o200k_base')}))))
    await attempt(() => loadEncoding('r50k_base', readFileSync(${path('r50k_base')}).buffer.slice(0)))
    errors.push(countTokens('Hello, world!'), countTokens('Hello, world!', 'o200k_harmony'))
    console.log(JSON.stringify(errors))
  `)
  const errors = JSON.parse(output)
  assert.deepEqual(errors.slice(0, 2), ['EncodingNotLoadedError', 'InvalidArgumentError'])
  assert.deepEqual(errors.slice(2, 8), Array(6).fill('InvalidArgumentError'))
  assert.deepEqual(errors.slice(8, 11), Array(3).fill('StorageError'))
  for (const name of errors.slice(11, 13)) assert.ok(['StorageError', 'InvalidArgumentError'].includes(name), name)
  assert.deepEqual(errors.slice(13), ['EncodingNotLoadedError', 'none', 'none', errors[16], 4, 4])
  assert.ok(['none', 'InvalidArgumentError'].includes(errors[16]), 'a pooled buffer may hold other bytes as well')
})

test('the vocabulary files in the package are the ones that are loaded', () => {
  for (const name of ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base']) {
    assert.ok(readFileSync(require.resolve(`peteos-session/encodings/${name}.bin`)).length > 300_000)
  }
})
