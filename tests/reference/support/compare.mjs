// Runs a program on both sides and finds the first difference.
import { startOf } from '../programs.mjs'
import { parseText, prettyLines } from './json-text.mjs'
import { canonicalFile, World } from './ours.mjs'

/**
 * Runs a program on both sides; resolves to `{ steps, compared, difference, answers, ours }`: the executed steps, the number
 * of compared answers, the first difference or null, and the answers of the reference and ours.
 */
export async function compare(oracle, program) {
  const { start, steps } = startOf(program)
  return compareSteps(oracle, start, steps)
}

/** Like `compare`, for a start and steps in the form of the oracle. */
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
    // No step ran: the start failed, or the data for the answer is missing.
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
    // If the results differ, later differences add nothing.
    const shown = ({ result, ...rest }) => (same(one.result, other.result) ? { result, ...rest } : { result })
    return { index, step, kind, lines: differingLines(shown(other), shown(one)) }
  }
  return null
}

/** An answer without permitted differences: the message and class of an error, and files that one side did not write. */
function comparable({ result, active, dumps }, written = result.files) {
  const kept = { ...result }
  // An error that is not one of the package's own begins with the stack.
  if (kept.error && !String(kept.error).includes('\n')) kept.error = true
  delete kept.message
  if (kept.files) {
    const compared = Object.entries(kept.files).filter(([name]) => written?.[name] !== null)
    kept.files = Object.fromEntries(compared.map(([name, text]) => [name, canonicalFile(text)]))
  }
  return { result: kept, active, dumps: Object.fromEntries(Object.entries(dumps).sort()) }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other)
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

/** The lines of both, with the sign of the side for lines that only one has, by the longest common subsequence. */
function diff(before, after) {
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i][j] = before[i] === after[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1])
    }
  }
  const marked = []
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (before[i] === after[j]) {
      marked.push([' ', before[i++]])
      j++
    } else if (j === after.length || common[i + 1]?.[j] >= common[i][j + 1]) marked.push(['-', before[i++]])
    else marked.push(['+', after[j++]])
  }
  return marked
}

/** An answer as parsed by `parseText`, with the JSON texts in it parsed too. */
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

/** A readable failing case: the program, and the lines in which its last step differs. */
export function describe({ start, system, tools, extras, prelude }, { steps, difference }) {
  const done = start === 'create' ? steps : [...prelude, ...steps]
  const from =
    start === 'create' ? 'a new session' : `a session of a file${extras ? ` with ${JSON.stringify(extras)}` : ''}`
  return [
    `The package and the reference differ after ${done.length} steps:`,
    `   ${from}`,
    ...(system ? [`   system prompt ${system}`] : []),
    ...(tools ? [`   tool definitions ${tools}`] : []),
    describeSteps({ steps: done, difference: { ...difference, index: done.length - steps.length + difference.index } }),
  ].join('\n')
}

/** Steps, and the lines in which a result differs. */
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

/** The messages of the context that changed last. */
export function lastMessages(answers) {
  const dump = answers.flatMap(({ dumps }) => Object.values(dumps)).at(-1)
  return JSON.parse(dump).messages
}
