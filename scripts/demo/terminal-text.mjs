// Text of unknown origin on a terminal: harmless, on one line, and measured in columns.
/** Longer texts than any line of a terminal are not looked at to their end. */
const LONGEST = 2000

// What sets colours, moves the cursor or names the window: CSI and OSC sequences.
const COMMANDS = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)/g
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const PICTURE =
  /\p{Emoji_Presentation}|\p{Extended_Pictographic}\p{Emoji_Modifier}?(\ufe0f|\u200d)|[0-9#*]\ufe0f\u20e3/u
const NO_COLUMN = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u
// East Asian Wide and Fullwidth.
const TWO_COLUMNS = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f' +
    '\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18aff}\\u{1b000}-\\u{1b2ff}\\u{1f200}-\\u{1f2ff}\\u{20000}-\\u{3fffd}]',
  'u',
)

/** A text on one line, without anything that a terminal would obey. */
export function harmless(text) {
  return (
    text
      .replace(COMMANDS, '')
      .replace(/[^\S ]/g, ' ')
      .replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
      // Among the format characters are those that turn the direction of what follows; the two joiners are part of words.
      .replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
  )
}

/** The beginning of a text on one line, harmless and with single spaces. */
export function toLine(text) {
  return harmless(text.trimStart().slice(0, LONGEST)).replace(/ +/g, ' ').trim()
}

/** How many columns a terminal gives to a line, as most of them do. */
export function displayWidth(line) {
  let width = 0
  for (const { segment } of graphemes.segment(line)) width += graphemeWidth(segment)
  return width
}

/** A line cut to a number of columns, with an ellipsis where something is missing. */
export function cut(line, columns) {
  let width = 0
  let end = 0
  for (const { segment, index } of graphemes.segment(line)) {
    width += graphemeWidth(segment)
    if (width > columns) return columns < 1 ? '' : `${line.slice(0, end)}…`
    // The ellipsis needs a column too.
    if (width < columns) end = index + segment.length
  }
  return line
}

/** A line cut and filled up to a number of columns. */
export function fit(line, columns) {
  const short = cut(line, columns)
  return short + ' '.repeat(Math.max(columns - displayWidth(short), 0))
}

function graphemeWidth(segment) {
  if (segment.length === 1 && segment >= ' ' && segment <= '~') return 1
  if (PICTURE.test(segment)) return 2
  let width = 0
  for (const character of segment) {
    if (NO_COLUMN.test(character)) continue
    width += TWO_COLUMNS.test(character) ? 2 : 1
  }
  return width
}
