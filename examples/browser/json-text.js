/**
 * The value of a JSON text in which numbers keep their digits, so that 2**63 is shown as it was written. (Engines without
 * JSON.rawJSON show the nearest number.)
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseExactly(text) {
  return JSON.parse(text, (_key, value, context) =>
    typeof value === 'number' && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value,
  )
}

/** A value as text: strings unchanged, everything else as JSON. */
export function asText(value) {
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value, null, 2)
}

export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
