// Where two JSON values differ.

/** The first place at which two values differ, with what stands there; null where they are the same. */
export function firstDifference(expected, found, path = '') {
  if (Object.is(expected, found)) return null
  if (!isContainer(expected) || !isContainer(found) || Array.isArray(expected) !== Array.isArray(found)) {
    return `${path || 'the value'} is ${brief(found)}, expected ${brief(expected)}`
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const at = Array.isArray(expected) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    if (!Object.hasOwn(found, key)) return `${at} is missing, expected ${brief(expected[key])}`
    if (!Object.hasOwn(expected, key)) return `${at} is ${brief(found[key])}, expected nothing there`
    const difference = firstDifference(expected[key], found[key], at)
    if (difference !== null) return difference
  }
  return null
}

function isContainer(value) {
  return typeof value === 'object' && value !== null
}

function brief(value) {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
