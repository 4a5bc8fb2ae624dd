/**
 * A copy of plain data, or `undefined` for anything else, such as an object of a class, whose state may be hidden.
 * @internal
 */
export function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copies = value.map(copyOf)
    return copies.includes(undefined) ? undefined : copies
  }
  if (!isPlain(value)) return undefined
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, field] of Object.entries(value)) {
    const own = copyOf(field)
    if (own === undefined && field !== undefined) return undefined
    copy[key] = own
  }
  return copy
}

/**
 * Whether a value is still the same as when it was copied. Strings that were not replaced are compared by identity.
 * @internal
 */
export function isSame(value: unknown, copy: unknown): boolean {
  if (typeof value !== 'object' || value === null || typeof copy !== 'object' || copy === null) {
    return value === copy && value !== undefined
  }
  if (Array.isArray(value)) {
    return (
      Array.isArray(copy) && value.length === copy.length && value.every((item, index) => isSame(item, copy[index]))
    )
  }
  if (Array.isArray(copy) || !isPlain(value)) return false
  const keys = Object.keys(value)
  if (keys.length !== Object.keys(copy).length) return false
  const fields = value as Record<string, unknown>
  const copies = copy as Record<string, unknown>
  return keys.every((key) => {
    return (
      key in copies && (isSame(fields[key], copies[key]) || (fields[key] === undefined && copies[key] === undefined))
    )
  })
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value)
}
