// A message in few words.
import { toLine } from './terminal-text.mjs'

/** What a message is made of: `thinking + tool_use read_file ×2, search`. */
export function describeParts({ content }) {
  const groups = []
  for (const part of content ?? []) {
    const type = String(part.type)
    if (groups.at(-1)?.type !== type) groups.push({ type, names: [], count: 0 })
    const group = groups.at(-1)
    group.count += 1
    if (type === 'tool_use') group.names.push(String(part.name))
  }
  return toLine(groups.map(describeGroup).join(' + ')) || '-'
}

/** The beginning of what a message says; of what it thinks or does where it says nothing. */
export function firstWords({ content }) {
  const parts = content ?? []
  const inOrder = [...parts.filter(({ type }) => type === 'text'), ...parts]
  const first = inOrder.find((part) => textOf(part).trim() !== '')
  return first === undefined ? '' : toLine(textOf(first))
}

function describeGroup({ type, names, count }) {
  if (names.length === 0) return times(type, count)
  return `${type} ${runs(names)
    .map(([name, length]) => times(name, length))
    .join(', ')}`
}

/** Neighbours that are the same, taken together: ['a', 'a', 'b'] -> [['a', 2], ['b', 1]]. */
function runs(names) {
  const result = []
  for (const name of names) {
    if (result.at(-1)?.[0] === name) result.at(-1)[1] += 1
    else result.push([name, 1])
  }
  return result
}

function times(word, count) {
  return count === 1 ? word : `${word} ×${count}`
}

function textOf(part) {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return string(part.text)
    case 'tool_use':
      return string(part.arguments)
    case 'tool_result':
      return string(part.content)
    case 'tool':
      return `${string(part.name)}: ${string(part.description)}`
    default:
      return describeSource(part.source)
  }
}

function describeSource(source) {
  if (source?.type === 'url') return string(source.url)
  if (typeof source?.data !== 'string') return ''
  const bytes = Math.floor((source.data.length * 3) / 4)
  return `${string(source.media_type)}, ${bytes} bytes`
}

// Files are not obliged to hold what the format says.
function string(value) {
  return typeof value === 'string' ? value : ''
}
