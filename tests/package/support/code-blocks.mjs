// The code blocks of the documentation: fenced blocks of Markdown pages, and `@example` blocks of doc comments.

/**
 * The fenced blocks of a Markdown text: `{ language, flags, source, line }`. `line` is that of the first line of the
 * source, from 1. The info string is the language and then flags, as in "ts no-run".
 */
export function fencedBlocks(markdown) {
  const blocks = []
  let open = null
  markdown.split('\n').forEach((line, index) => {
    const fence = line.match(/^( *)(`{3,}|~{3,})(.*)$/)
    if (open === null && fence !== null) {
      const [language = '', ...flags] = fence[3].trim().split(/\s+/)
      open = { indent: fence[1].length, fence: fence[2], language, flags, lines: [], line: index + 2 }
    } else if (open !== null && line.trim() === open.fence) {
      const { language, flags, lines, line: first } = open
      blocks.push({ language, flags, source: `${lines.join('\n')}\n`, line: first })
      open = null
    } else if (open !== null) {
      open.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
    }
  })
  if (open !== null) throw new Error(`the block that begins in line ${open.line} is not closed`)
  return blocks
}

/** The fenced blocks that follow `@example` in the doc comments of a TypeScript source. */
export function exampleBlocks(source) {
  const blocks = []
  for (const comment of source.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    const firstLine = source.slice(0, comment.index).split('\n').length
    const lines = comment[0]
      .replace(/^\/\*\*|\*\/$/g, '')
      .split('\n')
      .map((line) => line.replace(/^\s*\* ?/, ''))
    // From one tag to the next; an `@` within a block is code.
    let inFence = false
    let inExample = false
    const text = lines.map((line) => {
      if (/^\s*```/.test(line)) inFence = !inFence
      else if (!inFence && /^\s*@\w+/.test(line)) inExample = /^\s*@example\b/.test(line)
      return inExample && !/^\s*@example\b/.test(line) ? line : ''
    })
    blocks.push(...fencedBlocks(text.join('\n')).map((block) => ({ ...block, line: block.line + firstLine - 1 })))
  }
  return blocks
}
