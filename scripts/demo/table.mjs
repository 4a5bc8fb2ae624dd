// The messages as a table.
import { describeParts, firstWords } from './describe-message.mjs'
import { cut, displayWidth, fit, toLine } from './terminal-text.mjs'

const GAP = '  '
const LEAST_TEXT = 20

/**
 * The lines of a table of messages. Each row is { number, message, tokens, total, droppedBy }, `droppedBy` empty for
 * what stays. `width` is that of the terminal, `dim` marks a line of what goes.
 */
export function tableOf(rows, width, dim) {
  const cells = rows.map(({ number, message, tokens, total, droppedBy }) => ({
    number: String(number),
    role: toLine(String(message.role ?? '')) || '-',
    parts: describeParts(message),
    tokens: tokens.toLocaleString('en-US'),
    total: total.toLocaleString('en-US'),
    droppedBy,
    text: firstWords(message),
  }))
  const heading = {
    number: '#',
    role: 'role',
    parts: 'parts',
    tokens: 'tokens',
    total: 'total',
    droppedBy: 'cut by',
    text: 'text',
  }
  const widths = columnWidths([heading, ...cells], width)
  return [
    lineOf(heading, widths),
    ...cells.map((cell) => (cell.droppedBy === '' ? lineOf(cell, widths) : dim(lineOf(cell, widths)))),
  ]
}

function columnWidths(cells, width) {
  const longest = (key) => cells.reduce((most, cell) => Math.max(most, displayWidth(cell[key])), 0)
  const widths = {
    number: longest('number'),
    role: Math.min(longest('role'), 20),
    parts: Math.min(longest('parts'), Math.max(Math.floor(width * 0.3), 16)),
    tokens: longest('tokens'),
    total: longest('total'),
    droppedBy: longest('droppedBy'),
  }
  const taken = Object.values(widths).reduce((sum, column) => sum + column + GAP.length, 0)
  return { ...widths, text: Math.max(width - taken, LEAST_TEXT) }
}

function lineOf(cell, widths) {
  const columns = [
    cell.number.padStart(widths.number),
    fit(cell.role, widths.role),
    fit(cell.parts, widths.parts),
    cell.tokens.padStart(widths.tokens),
    cell.total.padStart(widths.total),
    cell.droppedBy.padEnd(widths.droppedBy),
    cut(cell.text, widths.text),
  ]
  return columns.join(GAP).trimEnd()
}
