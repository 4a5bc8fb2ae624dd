import { InvalidArgumentError } from '../errors.js'
import type { Boundary } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import { type CountedContext, type CountingOptions, countingOptions } from '../tokens/counting.js'

/** Options of a sequence window. */
export interface SequenceWindowOptions {
  /** By default `'message'`. */
  boundary?: Boundary
  /**
   * When the window must cut, it cuts down to `to`, so that its beginning stays the same for many turns and a provider can
   * take it from a cache. In messages, or in tokens for a token window; at most the limit minus the reserve. By default the
   * limit.
   */
  hysteresis?: { to: number }
  /**
   * Ids of messages that are always kept, each with its exchange, and with the boundary `'turn'` with the prompt before it.
   * They count towards the limit first. By default none.
   */
  pin?: readonly string[]
}

/** Options of a token window. */
export interface TokenWindowOptions extends SequenceWindowOptions, CountingOptions {
  /** Tokens of the budget that are set aside for the reply. By default 0. */
  reserve?: number
}

/** Options of a window. */
export type WindowOptions = TokenWindowOptions

const SEQUENCE_OPTIONS = ['boundary', 'hysteresis', 'pin'] as const
const COUNTING_OPTIONS = ['media', 'counter'] as const
const TOKEN_OPTIONS = [...SEQUENCE_OPTIONS, 'reserve', ...COUNTING_OPTIONS] as const

/**
 * The options of a sequence window, as Rust takes them.
 * @internal
 */
export function sequenceWindowOptions(options: SequenceWindowOptions | null | undefined): object | undefined {
  if (options === undefined || options === null) return undefined
  const { hysteresis, ...wireOptions } = readOptions(options, SEQUENCE_OPTIONS, 'a sequence window')
  return { ...wireOptions, to: lowerMark(hysteresis) }
}

/**
 * The options of a token window over a context, as Rust takes them.
 * @internal
 */
export function tokenWindowOptions(
  context: CountedContext | null,
  options: TokenWindowOptions | null | undefined,
): object | undefined {
  if (options === undefined || options === null) return undefined
  const { hysteresis, media, counter, ...wireOptions } = readOptions(options, TOKEN_OPTIONS, 'a token window')
  return { ...wireOptions, to: lowerMark(hysteresis), ...countingOptions(context, { media, counter }) }
}

/**
 * The options of a count of a context's tokens, as Rust takes them.
 * @internal
 */
export function tokenCountOptions(
  context: CountedContext,
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
  throw new InvalidArgumentError(`${argument}.to: is missing; expected the mark to cut down to`, {
    argument: `${argument}.to`,
  })
}
