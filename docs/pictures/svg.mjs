// What the pictures have in common. They have a background of their own, so that they can be read in light and in dark pages.

export const ROW = 30
export const TOP = 76
export const WIDTH = 860

/** A picture with a title and, below it, the column heads; `summary` is also what a screen reader says. */
export function picture({ title, summary, rows, body }) {
  const height = TOP + rows * ROW + 58
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}: ${escaped(summary)}">
<style>
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 16px }
.quiet { fill: #59636e }
.number { text-anchor: end; font-variant-numeric: tabular-nums }
.middle { text-anchor: middle }
.bad { fill: #cf222e }
.dropped { opacity: 0.7 }
</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text class="title" x="20" y="32">${escaped(title)}</text>
${body.join('\n')}
</svg>
`
}

/** A bracket on the left from one row to another. */
export function bracket(from, to, x, isBroken = false) {
  const middle = (index) => TOP + index * ROW + (ROW - 4) / 2
  const [colour, stroke] = isBroken ? ['#cf222e', 3] : ['#59636e', 1.5]
  return `<path d="M50 ${middle(from)} H${x} V${middle(to)} H50" fill="none" stroke="${colour}" stroke-width="${stroke}"/>`
}

/** Where the bracket of the call at this index of the list stands: two calls of one message stand beside each other. */
export function bracketX(calls, index) {
  return index > 0 && calls[index - 1].call === calls[index].call ? 26 : 38
}

export function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
