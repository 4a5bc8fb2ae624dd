// One budget, two boundaries: what each window keeps, and which providers take it.
import { describeParts, firstWords } from './describe-message.mjs'
import { formatNumber, toColumns, toLine } from './text.mjs'

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const BOUNDARIES = ['message', 'turn']
/** How many messages are shown before and after each cut. */
const AROUND = 3

/** The columns of the comparison: the context as it is, and a window for each boundary. */
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

/** Why a provider refuses the first window that one refuses; [] where all are taken. */
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
  const fromHere = tokens.map((_, index) => sum(tokens.slice(0, Math.min(special, index))) + sum(tokens.slice(index)))
  const shown = messages.map(
    (_, index) => all || index < special || isNearCut(windows, index, special, messages.length),
  )
  const rows = [['#', 'role', 'parts', 'tokens', 'from here', ...BOUNDARIES, 'text']]
  const dimmed = [false]
  for (const [index, message] of messages.entries()) {
    if (!shown[index]) {
      if (index > 0 && !shown[index - 1]) continue
      const next = shown.indexOf(true, index)
      const end = next === -1 ? messages.length : next
      const kept = windows.map(({ report }) => (isKept(report, index) ? 'kept' : '-'))
      rows.push(['', '…', `${formatNumber(end - index)} messages`, sum(tokens.slice(index, end)), '', ...kept, ''])
    } else {
      const kept = windows.map(({ report }) => (isKept(report, index) ? 'kept' : '-'))
      const cells = [toLine(String(message.role)), describeParts(message), tokens[index], fromHere[index]]
      rows.push([index + 1, ...cells, ...kept, firstWords(message)])
    }
    dimmed.push(windows.every(({ report }) => !isKept(report, index)))
  }
  const lines = toColumns(rows, width, [undefined, 20, Math.max(Math.floor(width * 0.3), 16)])
  return lines.map((text, index) => (dimmed[index] ? dim(text) : text))
}

function isKept(report, index) {
  return report === null || report.messages[index].kept
}

function isSpecial(columns, index) {
  return columns.at(-1).report.messages[index].reason === 'special'
}

/** Whether a window changes its mind near a message; with no cut at all, the last messages are shown. */
function isNearCut(windows, index, special, length) {
  const cuts = windows.flatMap(({ report: { messages } }) =>
    messages.flatMap(({ kept }, at) => (at > special && kept !== messages[at - 1].kept ? [at] : [])),
  )
  if (cuts.length === 0) return index >= length - 3 * AROUND
  return cuts.some((cut) => index >= cut - AROUND && index < cut + AROUND)
}

function verdict(findings) {
  if (findings.length === 0) return 'accepts'
  const [rule, ...others] = new Set(findings.map((finding) => finding.rule))
  return others.length === 0 ? `refuses: ${rule}` : `refuses: ${rule} +${others.length}`
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
