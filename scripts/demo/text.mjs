// Text for a terminal.
import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import stripAnsi from 'strip-ansi'

/** No terminal line is longer, so the rest of a text is not processed. */
const LONGEST = 2000
const GAP = '  '

/** The beginning of an untrusted text on one line, without control sequences. */
export function toLine(text) {
  return (
    stripAnsi(text.trimStart().slice(0, LONGEST))
      .replace(/\s+/g, ' ')
      .replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
      // Format characters may reverse the direction of a line; the two joiners belong to words.
      .replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
      .trim()
  )
}

/** Formats rows of cells as lines of at most `width` columns: numbers are right-aligned, and the last cell is truncated. */
export function toColumns(rows, width, limits = []) {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)))
  const widths = texts[0].map((_, column) => {
    const longest = Math.max(...texts.map((row) => stringWidth(row[column])))
    return Math.min(longest, limits[column] ?? width)
  })
  const taken = widths.slice(0, -1).reduce((sum, column) => sum + column + GAP.length, 0)
  widths[widths.length - 1] = Math.max(width - taken, 10)
  const isNumeric = widths.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const fit = (text, column) => {
    const shown = truncate(text, widths[column])
    const padding = ' '.repeat(widths[column] - stringWidth(shown))
    return isNumeric[column] ? padding + shown : shown + padding
  }
  return texts.map((row) => row.map(fit).join(GAP).trimEnd())
}

/** cli-truncate keeps a wide character at the end that is a column or two too wide. */
function truncate(text, columns) {
  let cut = cliTruncate(text, columns)
  for (let limit = columns - 1; stringWidth(cut) > columns; limit -= 1) cut = cliTruncate(text, limit)
  return cut
}

export function formatNumber(value) {
  return value.toLocaleString('en-US')
}
