// JSON as Python's json module writes it: an independent writer to compare files with.

/** A number that is written with this text. */
export class Raw {
  constructor(text) {
    this.text = text
  }
}

/** `json.dumps(value, indent=2)`. */
export function fileText(value, indent = '') {
  const inner = `${indent}  `
  const lines = (items, open, close) =>
    items.length === 0 ? open + close : `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`
  if (Array.isArray(value))
    return lines(
      value.map((item) => fileText(item, inner)),
      '[',
      ']',
    )
  if (isObject(value)) {
    const fields = Object.entries(value).map(([key, field]) => `${quoted(key)}: ${fileText(field, inner)}`)
    return lines(fields, '{', '}')
  }
  return scalar(value, quoted)
}

/** `json.dumps(value, ensure_ascii=False)`: the text that is counted. */
export function pythonText(value) {
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([key, field]) => `${JSON.stringify(key)}: ${pythonText(field)}`)
      .join(', ')}}`
  }
  return scalar(value, JSON.stringify)
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !(value instanceof Raw)
}

function scalar(value, string) {
  if (value instanceof Raw) return value.text
  return typeof value === 'string' ? string(value) : String(value)
}

function quoted(text) {
  const escapes = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' }
  // Without the flag u, a character above U+FFFF is the two code units that it is written as.
  const escaped = (unit) => escapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `"${text.replace(/[^ -~]|["\\]/g, escaped)}"`
}
