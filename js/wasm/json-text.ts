import { InvalidArgumentError, InvalidMessageError } from '../errors.js'

/** The role of a value, which decides the class of the error about it. */
type Purpose = 'message' | 'dict' | 'rawDict' | 'arguments' | 'value' | 'reply' | 'options' | 'policy' | 'range'

/** Longer texts come close to what a string, or the memory of WebAssembly, can hold. */
export const MAX_TEXT = 2 ** 27

const TOO_LARGE = `is larger than ${MAX_TEXT} characters of JSON`

/** Rust refuses more values than this; the copy stops there, since a small object can be shared many times. */
const MAX_VALUES = 5_000_000

/** A value as JSON text, and what `JSON.parse` makes of the text. */
export interface JsonCopy {
  readonly text: string
  readonly value: unknown
}

/**
 * Converts a value of a caller to JSON, reading it once. Values that JSON would silently drop or change (`NaN`, a bigint, a
 * Map, a function, a cycle) are refused with their path.
 *
 * @param isFrozen Whether the copy is frozen, to its depth.
 * @internal
 */
export function copyJson(value: unknown, purpose: Purpose, isFrozen = false): JsonCopy {
  const copier = new Copier(isFrozen)
  let { fault } = copier
  let copy: unknown
  let text: string | undefined
  try {
    copy = copier.copy(value)
    fault = copier.fault
    if (fault === null) {
      text = JSON.stringify(copier.isExact ? copy : value)
      if (!copier.isExact && text !== undefined) copy = isFrozen ? fromJsonText(text) : JSON.parse(text)
    }
  } catch (error) {
    fault = { path: '', message: reasonOf(error), cause: error }
  }
  if (fault === null && text !== undefined && text.length > MAX_TEXT) fault = { path: '', message: TOO_LARGE }
  if (fault === null && text === undefined) fault = { path: '', message: `expected an object, found ${typeof value}` }
  if (fault === null) return { text: text as string, value: copy }
  const argument = `${purpose}${fault.path}`
  const message = `${argument}: ${fault.message}`
  const cause = 'cause' in fault ? { cause: fault.cause } : {}
  if (purpose === 'message') throw new InvalidMessageError(message, { field: fault.path.replace(/^\./, ''), ...cause })
  throw new InvalidArgumentError(message, { argument, ...cause })
}

/**
 * Returns the JSON text of a caller's value, as {@link copyJson} does.
 *
 * @internal
 */
export function toJsonText(value: unknown, purpose: Purpose): string {
  return copyJson(value, purpose).text
}

interface Fault {
  path: string
  message: string
  /** What reading the value threw. */
  cause?: unknown
}

function reasonOf(error: unknown): string {
  try {
    // The messages differ between engines.
    if (error instanceof RangeError && /stack|recursion/i.test(error.message)) {
      return 'is nested too deeply, or contains itself'
    }
    if (error instanceof RangeError && /string|size|memory/i.test(error.message)) return TOO_LARGE
  } catch {
    // The error of a caller's getter throws as well.
  }
  return 'could not be read'
}

const NOT_JSON = /^(Map|Set|WeakMap|WeakSet|Promise|ArrayBuffer|SharedArrayBuffer|DataView|RegExp|\w+Array)$/
const BOXED = /^(String|Number|Boolean|BigInt|Symbol)$/

/** Copies a value as JSON would, up to the first item that JSON cannot hold. */
class Copier {
  fault: Fault | null = null
  /** Whether the copy is what JSON would make of the value: no object in it converts itself. */
  isExact = true
  #count = 0
  readonly #isFrozen: boolean

  constructor(isFrozen: boolean) {
    this.#isFrozen = isFrozen
  }

  copy(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
        return toWellFormed(value)
      case 'number':
        // JSON has no -0.
        return Number.isFinite(value) ? value || 0 : this.#refuse(`JSON cannot hold ${value}`)
      case 'bigint':
      case 'function':
      case 'symbol':
        return this.#refuse(`JSON cannot hold a ${typeof value}`)
      case 'object':
        if (++this.#count > MAX_VALUES) return this.#refuse(`holds more than ${MAX_VALUES} values`)
        return value === null ? null : this.#copyObject(value)
      default:
        return value
    }
  }

  #copyObject(value: object): unknown {
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
      // It converts itself, as dates do.
      this.isExact = false
      return null
    }
    if (Array.isArray(value)) return this.#copyArray(value)
    if (Object.getPrototypeOf(value) !== Object.prototype) {
      const kind = Object.prototype.toString.call(value).slice(8, -1)
      if (NOT_JSON.test(kind)) return this.#refuse(`JSON cannot hold a ${kind}`)
      if (BOXED.test(kind) || isRawJson(value)) {
        this.isExact = false
        return null
      }
    }
    return this.#copyFields(value)
  }

  #copyArray(items: readonly unknown[]): unknown {
    const copy: unknown[] = []
    for (let index = 0; index < items.length; index++) {
      const item = items[index]
      copy.push(item === undefined ? this.#refuse('JSON cannot hold undefined in an array') : this.copy(item))
      if (this.fault !== null) return this.#below(`[${index}]`)
    }
    return this.#isFrozen ? Object.freeze(copy) : copy
  }

  #copyFields(fields: object): unknown {
    // Spread reads each field once, and runs no setter on Object.prototype.
    const copy: Record<string, unknown> = { ...fields }
    const keys = Object.keys(copy)
    let isSame = Object.getOwnPropertySymbols(copy).length === 0
    for (const key of keys) {
      const field = this.copy(copy[key])
      if (this.fault !== null) return this.#below(`.${key}`)
      copy[key] = field
      isSame &&= field !== undefined && toWellFormed(key) === key
    }
    const kept = isSame ? copy : withoutUndefined(copy)
    return this.#isFrozen ? Object.freeze(kept) : kept
  }

  #refuse(message: string): undefined {
    this.fault = { path: '', message }
  }

  #below(step: string): undefined {
    if (this.fault !== null) this.fault.path = `${step}${this.fault.path}`
  }
}

/** The fields that are defined, with keys that are well-formed. */
function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(fields).filter(([, field]) => field !== undefined)
  return Object.fromEntries(kept.map(([key, field]) => [toWellFormed(key), field]))
}

/** Replaces lone surrogates with U+FFFD, as every UTF-8 encoder does. */
const toWellFormed: (text: string) => string =
  'toWellFormed' in String.prototype
    ? (text) => (text as string & { toWellFormed(): string }).toWellFormed()
    : (text) => text.replace(/\p{Surrogate}/gu, '\ufffd')

/** Whether a value is a number that keeps its text, which some engines have. */
function isRawJson(value: object): boolean {
  return (JSON as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) === true
}

/**
/**
 * Fills in a message that Rust completed: `null` stands for each field that was given. Replacing the values of existing
 * fields is several times faster than adding fields to an object.
 * @internal
 */
export function fillIn<T>(completed: Record<string, unknown>, given: unknown): T {
  for (const key of Object.keys(completed)) {
    if (completed[key] === null) completed[key] = (given as Record<string, unknown>)[key]
  }
  return completed as T
}

/**
 * Parses a JSON text that Rust wrote. The value is deeply frozen, so that a change in place throws instead of being lost.
 * @internal
 */
export function fromJsonText<T>(text: string): T {
  return deepFreeze(JSON.parse(text) as T)
}

/**
 * Freezes a value and everything in it. What is frozen already is taken to be frozen to its depth.
 * @internal
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const key of Object.keys(value)) {
      const field = (value as Record<string, unknown>)[key]
      if (typeof field === 'object') deepFreeze(field)
    }
    Object.freeze(value)
  }
  return value
}
