// `node tests/reference/make-golden.mjs` writes the golden files of tests/reference: the answers of the Python reference to
// generated sessions, so that the package can be compared with them without Python.
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { SetupError, say, whenRun } from '../../scripts/setup/steps.mjs'
import { fc } from '../package/support/property.mjs'
import { available, Oracle } from './oracle.mjs'
import { programs, startOf } from './programs.mjs'
import { compare } from './support/compare.mjs'
import { condensed, finalDumps, GOLDEN } from './support/golden.mjs'
import { anyDouble, formChanges, inBetween, spelled } from './support/numbers.mjs'
import { ENCODINGS } from './support/package.mjs'

const SESSIONS = 30
/** Longer answers are left out, so that all files together stay below 400 kB. */
const LONGEST = 9_000

const NUMBERS = `
  0 -0 -0.0 1.0 1.50 100000.0 1e5 1e15 1e16 9999999999999998.0 123456789012345678.0 1E22 0.0001
  0.00001 1e-7 5e-324 1.7976931348623157e308 2.2250738585072014e-308 1e400 -1e400 1e-400 0.1
  0.30000000000000004 4.35 2.5 173790143849334.625 80839296201888.125 9007199254740993
  9223372036854775808 -9223372036854775809 123456789012345678901234567890`
  .trim()
  .split(/\s+/)
const TEXTS = [
  '""',
  '"\\u0000\\u001f\\u007f\\u0080"',
  '"\\b\\f\\n\\r\\t\\"\\\\\\/"',
  '"\\u2028\\u2029\\ufeff"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"a\\ude00b"',
  '"\\ud83d\\udc69\\u200d\\ud83d\\udc69\\u200d\\ud83d\\udc67"',
  '"<|endoftext|>"',
  '"\\u65e5\\u672c\\u8a9e"',
  '"\\u0421\\u044a\\u0435\\u0448\\u044c"',
  `"${' '.repeat(100)}"`,
  `"${'a'.repeat(300)}"`,
  'null',
  'true',
  '[]',
  '{}',
  '[1,[2,{"a":[]}]]',
  '{"b":1,"a":2,"b":3}',
  '{"2":1,"1":2,"__proto__":{"":null}}',
]

async function sessions(oracle) {
  const chosen = []
  for (let seed = 1; chosen.length < SESSIONS; seed++) {
    const [program] = fc.sample(programs, { numRuns: 1, seed })
    const { steps, answers } = await compare(oracle, program)
    const { start } = startOf(program)
    const entry = {
      seed,
      start,
      steps,
      answers: answers.map((answer) => condensed(answer, start)),
      final: finalDumps(answers),
    }
    if (JSON.stringify(entry).length <= LONGEST) chosen.push(entry)
  }
  return chosen
}

async function texts(oracle) {
  const values = [...NUMBERS, ...TEXTS]
  const contents = values.map((value) => `[{"type":"data","value":${value}}]`)
  const { texts: written, counts } = await oracle.ask({
    do: 'texts',
    values: contents,
    encodings: ENCODINGS,
    before: 'user: ',
  })
  return { encodings: ENCODINGS, values: values.map((value, index) => [value, written[index], ...counts[index]]) }
}

/** Values with the text that Python writes for them, including `count` generated floats. */
async function pythonTexts(oracle, count = 1000) {
  const floats = fc.oneof({ weight: 7, arbitrary: anyDouble }, { weight: 3, arbitrary: inBetween })
  const characters = (from, to) =>
    JSON.stringify(String.fromCodePoint(...Array.from({ length: to - from }, (_, index) => from + index)))
  const values = [
    ...NUMBERS,
    ...TEXTS.filter((text) => !/\\u(d83d"|de00b)/.test(text)),
    ...formChanges().map(String),
    ...fc.sample(spelled(floats), { numRuns: count, seed: 1 }),
    characters(0, 0x300),
    characters(0x2000, 0x2070),
    characters(0xfff0, 0x10010),
  ]
  const { texts: written } = await oracle.ask({ do: 'texts', values, encodings: [], before: '' })
  return [...new Map(values.map((value, index) => [value, [value, written[index]]])).values()]
}

async function bytes(oracle) {
  const message = (id, content, more = {}) => ({
    role: 'user',
    content,
    id,
    creation_timestamp: '2001-02-03T04:05:06.000007',
    ...more,
  })
  const append = (value, anchor = 'messages') => ({
    do: 'append',
    anchor,
    message: typeof value === 'string' ? value : JSON.stringify(value),
  })
  const world = await oracle.open({
    plain: true,
    system: JSON.stringify({
      id: 's',
      creation_timestamp: '2001-02-03T04:05:06.000007',
      _static_text: 'Kind.',
      content: [{ type: 'text', text: 'Kind.' }],
    }),
    tools: JSON.stringify({
      id: 't',
      creation_timestamp: '2001-02-03T04:05:06.000007',
      content: [{ type: 'tool', name: 'f', description: '', parameters: { type: 'object' } }],
    }),
  })
  const added = message('added', [{ type: 'text', text: 'Añadido \u2028 😀' }])
  const steps = [
    append(message('m1', [{ type: 'text', text: 'é\u0000\u007f\u2028😀"\\/' }])),
    append(
      '{"role":"assistant","id":"m2","creation_timestamp":"2001-02-03T04:05:06.000007","content":[{"type":"x","n":[1e16,5e-324,-0.0,1.0,9223372036854775808,[],{}]}],"metadata":{"2":1,"1":2,"__proto__":{"a":[]},"":null}}',
    ),
    append(message('m3', [], { token_count: 5 })),
    { do: 'addAnchor', name: 'notes', index: 3, after: false },
    append(message('m4', [{ type: 'thinking', text: 'hm' }]), 'notes'),
    { do: 'state', call: 'create', args: ['2', 'two'] },
    { do: 'state', call: 'create', args: ['1', 'öne'] },
    { do: 'save' },
  ]
  for (const step of steps) await world.step(step)
  const { uuid } = await world.step({ do: 'ids' })
  const { files: before } = await world.step({ do: 'files' })
  for (const step of [append(added), { do: 'state', call: 'create', args: ['é', '😀'] }, { do: 'save' }])
    await world.step(step)
  const { files: after } = await world.step({ do: 'files' })
  await world.close()
  return { uuid, before, added, after }
}

/** JSON text in ASCII, with one item of a list per line. */
function asText(value) {
  const text = Array.isArray(value)
    ? `[\n${value.map((item) => JSON.stringify(item)).join(',\n')}\n]`
    : JSON.stringify(value, null, 1)
  return `${text.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}

await whenRun(import.meta.url, async () => {
  if (available === null)
    throw new SetupError('The golden files are the answers of the Python reference, which is not available.')
  const repaired = new Oracle()
  const asItIs = new Oracle({ asIs: true })
  await mkdir(GOLDEN, { recursive: true })
  const files = {
    'sessions.json': await sessions(repaired),
    'texts.json': await texts(repaired),
    'python-text.json': await pythonTexts(repaired),
    'bytes.json': await bytes(asItIs),
  }
  for (const [name, value] of Object.entries(files)) {
    await writeFile(new URL(name, GOLDEN), asText(value))
    say(`${name}: ${(await stat(new URL(name, GOLDEN))).size} bytes`)
  }
  await Promise.all([repaired.close(), asItIs.close()])
})
