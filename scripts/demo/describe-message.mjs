// Short descriptions of messages.
import { toLine } from './text.mjs'

/** The parts of a message: `thinking + tool_use read_file, search ×2`. */
export function describeParts({ content }) {
  const groups = new Map()
  for (const { type, name } of content ?? []) {
    const names = groups.get(type) ?? new Map()
    const key = type === 'tool_use' ? ` ${name}` : ''
    groups.set(type, names.set(key, (names.get(key) ?? 0) + 1))
  }
  const describe = ([type, names]) =>
    type + [...names].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(',')
  return toLine([...groups].map(describe).join(' + ')) || '-'
}

/** The beginning of the text of a message; if it has none, of its thinking or calls. */
export function firstWords({ content = [] }) {
  const said = content.filter(({ type }) => type === 'text')
  return [...said, ...content].map((part) => toLine(textOf(part))).find(Boolean) ?? ''
}

function textOf({ type, text, arguments: args, content, name, description, source }) {
  const byType = { tool_use: args, tool_result: content, tool: `${name}: ${description}` }
  const value = byType[type] ?? text ?? source?.url ?? source?.media_type
  // A file may hold any JSON value here.
  return typeof value === 'string' ? value : ''
}
