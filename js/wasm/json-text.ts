import { InvalidArgumentError, InvalidMessageError } from '../errors.js'

/** What a value is handed in as, which decides the error that names its fault. */
type Purpose = 'message' | 'dict' | 'rawDict' | 'arguments' | 'value'

/** Longer texts come near to what a string, or the memory of WebAssembly, can hold. */
export const MAX_TEXT = 2 ** 27

/**
 * The JSON text of a value that a caller hands in. What JSON would leave out or change without a word (`NaN`, a bigint,
 * a Map, a function, a cycle) is refused, with the way to it.
 * @internal
 */
export function toJsonText(value: unknown, purpose: Purpose): string {
  let text: string | undefined
  let fault: Fault | null
  try {
    fault = findFault(value)
    if (fault === null) text = JSON.stringify(value)
  } catch (error) {
    fault = { path: '', message: isOverflow(error) ? 'is nested too deeply, or contains itself' : 'could not be read', cause: error }
  }
  if (fault === null && text !== undefined && text.length > MAX_TEXT) {
    fault = { path: '', message: `is larger than ${MAX_TEXT} characters of JSON` }
  }
  if (fault === null && text === undefined) fault = { path: '', message: `expected an object, found ${typeof value}` }
  if (fault === null) return text as string
  const argument = `${purpose}${fault.path}`
  const message = `${argument}: ${fault.message}`
  const cause = 'cause' in fault ? { cause: fault.cause } : {}
  if (purpose === 'message') throw new InvalidMessageError(message, { field: fault.path.replace(/^\./, ''), ...cause })
  throw new InvalidArgumentError(message, { argument, ...cause })
}

interface Fault {
  path: string
  message: string
  /** What was thrown when the value was read. */
  cause?: unknown
}

function isOverflow(error: unknown): boolean {
  try {
    // Engines differ in words; the other RangeError is that of a text too long for a string.
    return error instanceof RangeError && /stack|recursion/i.test(error.message)
  } catch {
    return false
  }
}

/** Looks for the first thing in a value that JSON cannot hold. */
function findFault(value: unknown): Fault | null {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? null : { path: '', message: `JSON cannot hold ${value}` }
    case 'bigint':
    case 'function':
    case 'symbol':
      return { path: '', message: `JSON cannot hold a ${typeof value}` }
    case 'object':
      break
    default:
      return null
  }
  // What has a toJSON method says itself what it is in JSON, as dates do.
  if (value === null || typeof (value as { toJSON?: unknown }).toJSON === 'function') return null
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault =
        value[index] === undefined ? { path: '', message: 'JSON cannot hold undefined in an array' } : findFault(value[index])
      if (fault !== null) return { path: `[${index}]${fault.path}`, message: fault.message }
    }
    return null
  }
  const kind = Object.prototype.toString.call(value).slice(8, -1)
  if (/^(Map|Set|WeakMap|WeakSet|Promise|ArrayBuffer|SharedArrayBuffer|DataView|RegExp|\w+Array)$/.test(kind)) {
    return { path: '', message: `JSON cannot hold a ${kind}` }
  }
  for (const [key, field] of Object.entries(value)) {
    const fault = findFault(field)
    if (fault !== null) return { path: `.${key}${fault.path}`, message: fault.message }
  }
  return null
}

/**
 * The value of a JSON text that Rust wrote, frozen to its depth, so that a change in place throws instead of being lost.
 * @internal
 */
export function fromJsonText<T>(text: string): T {
  return deepFreeze(JSON.parse(text) as T)
}

/**
 * Freezes a value to its depth.
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const field of Object.values(value)) deepFreeze(field)
    Object.freeze(value)
  }
  return value
}
