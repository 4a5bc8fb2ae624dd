// Parses JSON text without losing what JavaScript values would lose: number text and the order of keys.

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y

/**
 * Objects become Maps, arrays become arrays; keys and all other values are JSON text, numbers as Python writes them. With
 * `anyEscapes` it makes no difference which characters of a string are escaped.
 */
export function parseText(text, { anyEscapes = false } = {}) {
  let position = 0
  const next = () => {
    TOKEN.lastIndex = position
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) throw new Error(`no JSON at ${position}: ${text.slice(position, position + 40)}`)
    position = TOKEN.lastIndex
    return anyEscapes && token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token
  }
  const value = (token) => {
    if (token === '{') {
      const object = new Map()
      for (let key = next(); key !== '}'; key = next()) {
        if (key === ',') continue
        next() // the colon
        object.set(key, value(next()))
      }
      return object
    }
    if (token === '[') {
      const array = []
      for (let item = next(); item !== ']'; item = next()) if (item !== ',') array.push(value(item))
      return array
    }
    return /^-?\d/.test(token) ? pythonNumber(token) : token
  }
  return value(next())
}

/** A number as Python writes it after reading it. */
export function pythonNumber(text) {
  if (/^-?\d+$/.test(text)) return String(BigInt(text))
  const number = Number(text)
  if (!Number.isFinite(number)) return number > 0 ? 'Infinity' : '-Infinity'
  const [digits, exponent] = number
    .toExponential()
    .split('e')
    .map((part, index) => (index === 0 ? part : Number(part)))
  if (exponent >= -4 && exponent < 16) {
    const plain = Object.is(number, -0) ? '-0' : String(number)
    return plain.includes('.') ? plain : `${plain}.0`
  }
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${Object.is(number, -0) ? '-0' : digits}e${exponent < 0 ? '-' : '+'}${size}`
}

/** A result of `parseText` as text without spaces. */
export function compactText(value) {
  if (value instanceof Map) return `{${Array.from(value, ([key, field]) => `${key}:${compactText(field)}`).join(',')}}`
  if (Array.isArray(value)) return `[${value.map(compactText).join(',')}]`
  return value
}

/** A result of `parseText` as lines to read and compare. */
export function prettyLines(value, indent = '', before = '') {
  const isObject = value instanceof Map
  const short = compactText(value)
  if ((!isObject && !Array.isArray(value)) || before.length + short.length < 90) return [`${indent}${before}${short}`]
  const inner = Array.from(value, (item) =>
    isObject ? prettyLines(item[1], `${indent}  `, `${item[0]}: `) : prettyLines(item, `${indent}  `),
  )
  return [`${indent}${before}${isObject ? '{' : '['}`, ...inner.flat(), `${indent}${isObject ? '}' : ']'}`]
}
