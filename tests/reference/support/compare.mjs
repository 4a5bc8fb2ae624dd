// Runs a program on both sides, finds the first difference, and reduces a program that has one to its core.
import { startOf } from '../generate.mjs'
import { parseText, prettyLines } from './json-text.mjs'
import { World, canonicalFile } from './ours.mjs'

/**
 * Runs a program on both sides; resolves to `{ steps, compared, difference, answers, ours }`: the steps as they were done,
 * how many answers were compared, the first that differ, or null, and the answers of the reference and ours.
 */
export async function compare(oracle, program) {
  const { start, steps } = startOf(program)
  return compareSteps(oracle, start, steps)
}

/** As `compare`, for a start and steps as the oracle takes them. */
export async function compareSteps(oracle, start, given) {
  const ours = []
  const steps = []
  try {
    const world = await World.open(start)
    for (const step of given) {
      const done = await world.step(step)
      steps.push(done.step)
      ours.push(done.outcome)
    }
  } catch (error) {
    // Not even a step of it: the start failed, or what the answer is made from cannot be had.
    const lines = [`+ ${error?.stack}`]
    return { steps, compared: 0, difference: { index: steps.length, step: null, kind: 'failed', lines } }
  }
  const theirs = await oracle.run(start, steps)
  const difference = firstDifference(steps, ours, theirs)
  const compared = theirs.reduce((sum, { result }) => sum + (result.windows?.length ?? 1), 0)
  return { steps, compared, difference, answers: theirs, ours }
}

function firstDifference(steps, ours, theirs) {
  for (const [index, step] of steps.entries()) {
    const [one, other] = [comparable(ours[index]), comparable(theirs[index], ours[index].result.files)]
    if (same(one, other)) continue
    const kind = `${Boolean(other.result.error)} ${Boolean(one.result.error)}`
    // Where the results differ, what they led to is no news.
    const shown = ({ result, ...rest }) => (same(one.result, other.result) ? { result, ...rest } : { result })
    return { index, step, kind, lines: differingLines(shown(other), shown(one)) }
  }
  return null
}

/** An answer without what may differ: the wording and the class of an error, and files that one side has not written. */
function comparable({ result, active, dumps }, written = result.files) {
  const kept = { ...result }
  // What the package throws that is no error of its own starts with the stack.
  if (kept.error && !String(kept.error).includes('\n')) kept.error = true
  delete kept.message
  if (kept.files) {
    const compared = Object.entries(kept.files).filter(([name]) => written?.[name] !== null)
    kept.files = Object.fromEntries(compared.map(([name, text]) => [name, canonicalFile(text)]))
  }
  return { result: kept, active, dumps: Object.fromEntries(Object.entries(dumps).sort()) }
}

const CONTEXT_LINES = 2
const MOST_LINES = 60

/** A line diff of two answers: `-` is the reference's, `+` ours. */
export function differingLines(theirs, ours) {
  const [before, after] = [theirs, ours].map((answer) => prettyLines(readable(answer)))
  const marked = diff(before, after)
  const isShown = marked.map((_, index) =>
    marked.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(([sign]) => sign !== ' '),
  )
  const lines = marked.flatMap(([sign, line], index) => {
    if (isShown[index]) return [`${sign} ${line}`]
    return isShown[index - 1] ? ['  …'] : []
  })
  const cut = lines.length - MOST_LINES
  return cut > 0 ? [...lines.slice(0, MOST_LINES), `… ${cut} more lines`] : lines
}

/** The lines of both with the sign of the side that alone has them, by the longest common subsequence. */
function diff(before, after) {
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i][j] = before[i] === after[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1])
    }
  }
  const marked = []
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    if (before[i] === after[j]) {
      marked.push([' ', before[i++]])
      j++
    } else if (j === after.length || common[i + 1]?.[j] >= common[i][j + 1]) marked.push(['-', before[i++]])
    else marked.push(['+', after[j++]])
  }
  return marked
}

/** An answer as `parseText` would give it, the JSON texts in it taken apart. */
function readable(value) {
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value === 'object' && value !== null) {
    return new Map(
      Object.entries(value)
        .filter(([, field]) => field !== undefined)
        .map(([key, field]) => [JSON.stringify(key), readable(field)]),
    )
  }
  if (typeof value === 'string' && /^[[{]/.test(value)) return parseText(value)
  return JSON.stringify(value)
}

/**
 * Reduces a program, whose steps have been made absolute, as long as the sides differ; gives up looking after some
 * seconds, and resolves to the smallest found.
 */
export async function shrink(oracle, program, { seconds = 30 } = {}) {
  const end = Date.now() + seconds * 1000
  const kindOf = async (candidate) => {
    try {
      return (await compare(oracle, candidate)).difference?.kind
    } catch {
      return null // The reference refuses the start.
    }
  }
  const kind = await kindOf(program)
  let smallest = program
  const reduce = async (candidates) => {
    let progress = false
    for (let found = true; found;) {
      found = false
      // After a success the search goes on where it was: what did not do before hardly does now.
      let at = 0
      for (let candidate; (candidate = nth(candidates(smallest), at)) !== undefined;) {
        if (Date.now() > end) return false
        if (!same(candidate, smallest) && (await kindOf(candidate)) === kind) {
          smallest = candidate
          found = progress = true
        } else at++
      }
    }
    return progress
  }
  do await reduce(shorter)
  while (await reduce(simpler))
  return smallest
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
}

function nth(items, index) {
  for (const item of items) if (index-- === 0) return item
}

/** Programs with less in them, the greatest steps first. */
function* shorter(program) {
  const plain = (step) => {
    const texts = ['message', 'system', 'tools'].filter((key) => String(step[key]).startsWith('{'))
    return { ...step, ...Object.fromEntries(texts.map((key) => [key, plainMessage(step[key])])) }
  }
  const trivial = { ...plain(program), prelude: program.prelude.map(plain), steps: program.steps.map(plain) }
  if (JSON.stringify(trivial).length < JSON.stringify(program).length) yield trivial
  for (const key of ['steps', 'prelude']) {
    const list = program[key]
    for (let size = list.length; size > 0; size >>= 1) {
      for (let at = 0; at < list.length; at += size) {
        const rest = { ...program, [key]: [...list.slice(0, at), ...list.slice(at + size)] }
        yield rest
        // A step takes a sequence number and a place: what was counted with it is moved.
        if (size === 1)
          yield* [
            [1, 0],
            [0, 1],
            [1, 1],
          ].map((moves) => ({ ...rest, steps: rest.steps.map((step) => moved(step, moves)) }))
      }
    }
  }
  if (program.start === 'file') yield { ...program, start: 'create', extras: null }
  if (program.extras !== null) yield { ...program, extras: null }
  for (const kind of ['system', 'tools']) if (program[kind] !== null) yield { ...program, [kind]: null }
}

/** Programs whose parts are simpler. */
function* simpler(program) {
  for (const kind of ['system', 'tools']) {
    for (const text of simplerMessages(program[kind])) yield { ...program, [kind]: text }
  }
  for (const key of ['steps', 'prelude']) {
    for (const [index, step] of program[key].entries()) {
      for (const simple of simplerSteps(step)) yield { ...program, [key]: program[key].with(index, simple) }
    }
  }
}

/** A fork with the start and the end of its range, or an anchor with its index, a number nearer to 0. */
function moved(step, [start, end]) {
  const nearer = (bound, by) => (bound === undefined ? bound : bound - Math.sign(bound) * by)
  if (step.do === 'addAnchor') return { ...step, index: nearer(step.index, start) }
  return step.do === 'fork' ? { ...step, start: nearer(step.start, start), end: nearer(step.end, end) } : step
}

function plainMessage(text) {
  const { id, role, _type } = JSON.parse(text)
  return JSON.stringify({ id, role, _type, content: [{ type: 'text', text: 'x' }] })
}

function* simplerSteps(step) {
  if (step.do === 'sweep') {
    for (let count = 1; count < 10; count++) yield { do: 'sequenceWindow', on: step.on, count }
  }
  for (const encoding of step.do === 'sweep' ? step.spread : [step.encoding]) {
    if (encoding === undefined || step.exactly) continue
    const window = step.do === 'sweep' ? { do: 'tokenWindow', on: step.on } : { do: step.do, on: step.on }
    for (let count = 0; count < 10; count++) {
      for (const more of [0, -1]) yield { ...window, encoding, exactly: [count, more] }
    }
  }
  if (step.encodings?.length > 1) for (const encoding of step.encodings) yield { ...step, encodings: [encoding] }
  for (const key of ['on', 'index', 'start', 'end', 'count']) {
    // A window of 0 is a fault of the reference.
    const least = key === 'count' ? 1 : 0
    const smaller = new Set([least, step[key] >> 1, step[key] - 1])
    if (step[key] > least) for (const number of smaller) yield { ...step, [key]: number }
    if (step[key] < 0) yield { ...step, [key]: step[key] + 1 }
  }
  for (const key of ['start', 'end', 'system', 'tools'])
    if (step[key] !== undefined) yield { ...step, [key]: undefined }
  if (step.do === 'append' && step.anchor !== 'messages') yield { ...step, anchor: 'messages' }
  for (const key of ['message', 'changes', 'system', 'tools']) {
    for (const text of simplerMessages(step[key])) yield { ...step, [key]: text }
  }
  if (step.text?.length > 1) for (const half of halves([...step.text])) yield { ...step, text: half.join('') }
}

/** Message texts with less in them. */
function* simplerMessages(text) {
  if (typeof text !== 'string' || !text.startsWith('{')) return
  if (plainMessage(text).length < text.length) yield plainMessage(text)
  // As taken apart, so that numbers stay as they are written.
  const value = parseText(text)
  for (const smaller of simplerValues(value)) yield write(smaller)
}

function* simplerValues(value) {
  if (value instanceof Map) {
    for (const [key, field] of value) {
      // These say what it is: another failure would be found without them.
      if (['"role"', '"type"', '"_type"', '"id"'].includes(key)) continue
      yield new Map([...value].filter(([other]) => other !== key))
      for (const smaller of simplerValues(field)) yield new Map([...value, [key, smaller]])
    }
  } else if (Array.isArray(value)) {
    for (const half of halves(value)) yield half
    for (const [index, item] of value.entries()) {
      for (const smaller of simplerValues(item)) yield value.with(index, smaller)
    }
  } else if (value.startsWith('"')) {
    const characters = [...JSON.parse(value)]
    if (characters.length > 12) for (const half of halves(characters)) yield JSON.stringify(half.join(''))
    else for (const index of characters.keys()) yield JSON.stringify(characters.toSpliced(index, 1).join(''))
  }
}

function write(value) {
  if (value instanceof Map) return `{${Array.from(value, ([key, field]) => `${key}:${write(field)}`).join(',')}}`
  return Array.isArray(value) ? `[${value.map(write).join(',')}]` : value
}

function halves(list) {
  if (list.length <= 1) return list.length === 1 ? [[]] : []
  const middle = list.length >> 1
  return [list.slice(0, middle), list.slice(middle)]
}

/**
 * The program with the steps as they were done, from which it can be reduced; but budgets of tokens stay relative, as the
 * texts get shorter.
 */
export function madeAbsolute(program, steps) {
  const { steps: given } = startOf(program)
  const absolute = steps.map((step, index) => (/sweep|okenWindow/.test(step.do) ? given[index] : step))
  return { ...program, prelude: program.start === 'create' ? [] : program.prelude, steps: absolute }
}

/** A failing case to be read: the program, and the lines in which its last step differs. */
export function describe({ seed, start, system, tools, extras, prelude }, { steps, difference }) {
  const done = start === 'create' ? steps : [...prelude, ...steps]
  const from =
    start === 'create' ? 'a new session' : `a session of a file${extras ? ` with ${JSON.stringify(extras)}` : ''}`
  return [
    `The package and the reference differ (seed ${seed}, reduced to ${done.length} steps):`,
    `   ${from}`,
    ...(system ? [`   system prompt ${system}`] : []),
    ...(tools ? [`   tool definitions ${tools}`] : []),
    describeSteps({ steps: done, difference: { ...difference, index: done.length - steps.length + difference.index } }),
  ].join('\n')
}

/** Steps, and the lines in which what came of one of them differs. */
export function describeSteps({ steps, difference }) {
  const field = ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  const shown = ({ do: name, ...args }) =>
    [
      name,
      ...Object.entries(args)
        .filter(([, value]) => value !== undefined)
        .map(field),
    ].join(' ')
  return [
    ...steps.map((step, index) => `${String(index + 1).padStart(2)} ${shown(step)}`),
    difference.step === null
      ? 'The package failed:'
      : `After step ${difference.index + 1} (- the reference, + the package):`,
    ...difference.lines,
  ].join('\n')
}
