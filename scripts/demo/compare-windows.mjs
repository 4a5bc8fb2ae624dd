// One budget, two boundaries: what each window keeps, and which providers accept it.
import { describeParts, firstWords } from './describe-message.mjs'
import { formatNumber, toColumns, toLine } from './text.mjs'

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const BOUNDARIES = ['message', 'turn']
/** How many messages are shown before and after each cut. */
const AROUND = 3

/** The columns of the comparison: the whole context, and a window for each boundary. */
export function compareWindows({ check }, context, { maxTokens, encoding }) {
  const describe = (title, fitted, report) => ({
    title,
    report,
    messages: fitted.messages,
    tokens: fitted.totalTokenCount(encoding),
    findings: PROVIDERS.map((provider) => check(fitted, provider)),
  })
  return [
    describe('no window', context, null),
    ...BOUNDARIES.map((boundary) => {
      const report = context.planTokenWindow(maxTokens, encoding, { boundary })
      const fitted = context.rollingTokenWindow(maxTokens, encoding, { boundary }) ?? context
      return describe(`boundary '${boundary}'`, fitted, report)
    }),
  ]
}

export function comparisonTable(columns, width) {
  const [{ messages }] = columns
  const line = (title, cellOf) => [`  ${title}`, ...columns.map(cellOf)]
  const rows = [
    line('', ({ title }) => title),
    line('messages', (column) => formatNumber(column.messages.length)),
    line('tokens', ({ tokens }) => formatNumber(tokens)),
    line('begins with', ({ report }) => {
      const index = messages.findIndex((_, index) => isKept(report, index) && !isSpecial(columns, index))
      return index === -1 ? 'no message' : `#${index + 1} ${toLine(String(messages[index].role))}`
    }),
    ...PROVIDERS.map((provider, index) => line(provider, ({ findings }) => verdict(findings[index]))),
  ]
  return toColumns(rows, width)
}

/** Why a provider rejects the first window that is not accepted; [] if all are accepted. */
export function refusal(columns) {
  const [{ messages: all }, ...windows] = columns
  for (const { title, report, messages, findings } of windows) {
    const refused = findings.find(({ length }) => length > 0)
    if (refused === undefined || report.dropped.length === 0) continue
    const [{ path, message, fix }] = refused
    const index = Number(/^messages\[(\d+)\]/.exec(path)?.[1])
    const number = all.findIndex(({ id }) => id === messages[index]?.id) + 1
    return [`Refused with ${title}: ${message}`, `  #${number} ${path}${andMore(refused.length - 1)}`, `  ${fix}`]
  }
  return []
}

function andMore(count) {
  return count === 0 ? '' : `, and ${count} more`
}

/** The messages around the cuts, or all of them; `dim` marks those that no window keeps. */
export function messageTable(columns, tokens, { width, all, dim }) {
  const [{ messages }, ...windows] = columns
  const special = messages.filter((_, index) => isSpecial(columns, index)).length
  const kept = messages.map((_, index) => windows.map(({ report }) => isKept(report, index)))
  const shown = all ? messages.map(() => true) : nearCuts(kept, special)
  let fromHere = sum(tokens)
  const rows = ranges(shown).map(([from, to]) => {
    const taken = sum(tokens.slice(from, to))
    const rest = fromHere
    if (from >= special) fromHere -= taken
    const marks = kept[from].map((isKept) => (isKept ? 'kept' : '-'))
    if (!shown[from]) return ['', '…', `${formatNumber(to - from)} messages`, taken, '', ...marks, '']
    const message = messages[from]
    return [from + 1, toLine(String(message.role)), describeParts(message), taken, rest, ...marks, firstWords(message)]
  })
  const heading = ['#', 'role', 'parts', 'tokens', 'from here', ...BOUNDARIES, 'text']
  const lines = toColumns([heading, ...rows], width, [undefined, 20, Math.max(Math.floor(width * 0.3), 16)])
  const isDropped = [false, ...ranges(shown).map(([from]) => !kept[from].includes(true))]
  return lines.map((line, index) => (isDropped[index] ? dim(line) : line))
}

function isKept(report, index) {
  return report === null || report.messages[index].kept
}

function isSpecial(columns, index) {
  return columns.at(-1).report.messages[index].reason === 'special'
}

/** Marks the special messages and those around a cut; without a cut, the last messages. */
function nearCuts(kept, special) {
  const cuts = kept.flatMap((marks, index) => (index > special && `${marks}` !== `${kept[index - 1]}` ? [index] : []))
  const isNear = (index) => cuts.some((cut) => index >= cut - AROUND && index < cut + AROUND)
  return kept.map(
    (_, index) => index < special || (cuts.length > 0 ? isNear(index) : index >= kept.length - 3 * AROUND),
  )
}

/** Ranges [from, to]: one for each marked index, and one for each run of others. */
function ranges(marked) {
  const starts = marked.flatMap((isMarked, index) => (isMarked || index === 0 || marked[index - 1] ? [index] : []))
  return starts.map((from, at) => [from, starts[at + 1] ?? marked.length])
}

function verdict(findings) {
  if (findings.length === 0) return 'accepts'
  const [rule, ...others] = new Set(findings.map((finding) => finding.rule))
  return others.length === 0 ? `refuses: ${rule}` : `refuses: ${rule} +${others.length}`
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
