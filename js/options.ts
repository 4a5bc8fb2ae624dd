import type { Context } from './context.js'
import { countingOptions } from './counting.js'
import { InvalidArgumentError } from './errors.js'
import type { CountingOptions, SequenceWindowOptions, TokenWindowOptions } from './types.js'

/**
 * A copy of the options that a caller hands in: each is read once, before anything else happens. What is absent (or
 * `null`) has no options.
 * @internal
 */
export function readOptions<T extends object>(
  options: T | null | undefined,
  names: readonly (keyof T & string)[],
  what: string,
  where = 'options',
): Partial<T> {
  if (options === undefined || options === null) return {}
  if (typeof options !== 'object') {
    const message = `${where}: expected an object, found a ${typeof options}`
    throw new InvalidArgumentError(message, { argument: where })
  }
  const copy: Partial<T> = {}
  let given: string[]
  try {
    given = Object.keys(options)
    // By name, so that options that are inherited count.
    for (const name of names) copy[name] = options[name]
  } catch (cause) {
    throw new InvalidArgumentError(`${where}: could not be read`, { argument: where, cause })
  }
  for (const key of given) {
    if ((names as readonly string[]).includes(key)) continue
    const argument = `${where}.${key}`
    const message = `${argument}: is no option of ${what}; known options: ${names.join(', ')}`
    throw new InvalidArgumentError(message, { argument })
  }
  return copy
}

const SEQUENCE_OPTIONS = ['boundary', 'hysteresis', 'pin'] as const
const COUNTING_OPTIONS = ['media', 'counter'] as const
const TOKEN_OPTIONS = [...SEQUENCE_OPTIONS, 'reserve', ...COUNTING_OPTIONS] as const

/**
 * The options of a sequence window, as they cross to Rust.
 * @internal
 */
export function sequenceWindowOptions(options: SequenceWindowOptions | null | undefined): object | undefined {
  if (options === undefined || options === null) return undefined
  const { hysteresis, ...crossing } = readOptions(options, SEQUENCE_OPTIONS, 'a sequence window')
  return { ...crossing, to: lowerMark(hysteresis) }
}

/**
 * The options of a token window over a context, as they cross to Rust.
 * @internal
 */
export function tokenWindowOptions(
  context: Context | null,
  options: TokenWindowOptions | null | undefined,
): object | undefined {
  if (options === undefined || options === null) return undefined
  const { hysteresis, media, counter, ...crossing } = readOptions(options, TOKEN_OPTIONS, 'a token window')
  return { ...crossing, to: lowerMark(hysteresis), ...countingOptions(context, { media, counter }) }
}

/**
 * The options of a count of a context's tokens, as they cross to Rust.
 * @internal
 */
export function tokenCountOptions(
  context: Context,
  options: CountingOptions | null | undefined,
): object | undefined {
  if (options === undefined || options === null) return undefined
  return countingOptions(context, readOptions(options, COUNTING_OPTIONS, 'a count'))
}

function lowerMark(hysteresis: unknown): unknown {
  if (hysteresis === undefined || hysteresis === null) return undefined
  const argument = 'options.hysteresis'
  const { to } = readOptions(hysteresis as { to: unknown }, ['to'], 'hysteresis', argument)
  if (to !== undefined && to !== null) return to
  throw new InvalidArgumentError(`${argument}.to: is missing; expected the mark to cut down to`, { argument: `${argument}.to` })
}
