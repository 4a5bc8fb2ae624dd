import { InvalidArgumentError } from '../errors.js'
import type { MediaPart, StoredMessage } from '../messages/message.js'

/**
 * The cost of an image, a video, a sound or a PDF document in tokens: `'reference'` (the default) counts its text in the
 * message, base64 data included, as the Python package does; a number is the cost of each; a function is called once for
 * each part, and its result is rounded up.
 */
export type MediaCost = 'reference' | number | ((part: MediaPart) => number)

/**
 * Counts tokens in place of an encoding.
 *
 * @param text The text that an encoding would count: `<role>: <content as JSON>`, without media unless media are counted
 * as text.
 * @param message The message itself.
 * @returns The number of tokens, which is rounded up. The function is called once for a message, until the message changes.
 */
export type Counter = (text: string, message: StoredMessage) => number

/** How tokens are counted. */
export interface CountingOptions {
  /** By default `'reference'`. */
  media?: MediaCost
  /** By default the encoding counts. Define it outside of a loop: counts are cached by the function. */
  counter?: Counter
}

/**
 * What counting needs of a context.
 * @internal
 */
export interface CountedContext {
  readonly storedMessages: readonly StoredMessage[]
  readonly handle: { countedText(position: number, includeMedia: boolean): string }
}

/** The results of a caller's function by message, so that it is called once for each. */
type Known = WeakMap<StoredMessage, number>

const textCounts = new WeakMap<Counter, Known>()
const textCountsWithoutMedia = new WeakMap<Counter, Known>()
const mediaCosts = new WeakMap<(part: MediaPart) => number, Known>()

/** The kinds of parts that `media` applies to. */
const MEDIA: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'pdf'])

/**
 * The counting options as Rust takes them. Functions of the caller are called here, before anything is borrowed
 * there. Each is called once for a message, until the message changes.
 *
 * @internal
 */
export function countingOptions(
  context: CountedContext | null,
  options: { media?: unknown; counter?: unknown },
): { media?: unknown; counts?: Float64Array } {
  const { media, counter } = options
  const wireOptions: { media?: unknown; counts?: Float64Array } = {}
  const isReference = media === undefined || media === null || media === 'reference'
  if (typeof media === 'string' && !isReference) throw wrongMedia(`"${media.slice(0, 40)}"`)
  if (!isReference && typeof media !== 'number' && typeof media !== 'function') throw wrongMedia(kindOf(media))
  if (counter !== undefined && counter !== null && typeof counter !== 'function') {
    throw wrong('options.counter', `expected a function, found ${kindOf(counter)}`)
  }
  const messages = context?.storedMessages ?? []
  if (typeof media === 'function') {
    const cost = media as Exclude<MediaCost, string | number>
    wireOptions.media = counts(messages, knownFor(mediaCosts, cost), (message) => mediaCost(message, cost))
  } else if (!isReference) {
    wireOptions.media = media
  }
  if (typeof counter === 'function') {
    const known = knownFor(isReference ? textCounts : textCountsWithoutMedia, counter as Counter)
    wireOptions.counts = counts(messages, known, (message, position) => {
      // A counter may have freed the context, which then throws.
      const text = (context as CountedContext).handle.countedText(position, isReference)
      return whole((counter as Counter)(text, message), 'options.counter', message)
    })
  }
  return wireOptions
}

function knownFor<F extends object>(cache: WeakMap<F, Known>, fn: F): Known {
  let known = cache.get(fn)
  if (known === undefined) {
    known = new WeakMap()
    cache.set(fn, known)
  }
  return known
}

function counts(
  messages: readonly StoredMessage[],
  known: Known,
  count: (message: StoredMessage, position: number) => number,
): Float64Array {
  return Float64Array.from(messages, (message, position) => {
    let tokens = known.get(message)
    if (tokens === undefined) {
      tokens = count(message, position)
      known.set(message, tokens)
    }
    return tokens
  })
}

function mediaCost(message: StoredMessage, cost: (part: MediaPart) => number): number {
  let total = 0
  for (const part of message.content ?? []) {
    if (MEDIA.has(part.type)) total += whole(cost(part as MediaPart), 'options.media', message)
  }
  return total
}

/** Estimates may be fractional and are rounded up. */
function whole(count: unknown, argument: string, message: StoredMessage): number {
  const tokens = typeof count === 'number' ? Math.ceil(count) : Number.NaN
  if (tokens >= 0 && tokens <= Number.MAX_SAFE_INTEGER) return tokens
  const found = typeof count === 'number' ? String(count) : kindOf(count)
  throw wrong(
    argument,
    `expected it to return a non-negative number of tokens, found ${found} for the message ${message.id}`,
  )
}

function wrongMedia(found: string): InvalidArgumentError {
  return wrong('options.media', `expected 'reference', a number of tokens, or a function of a part, found ${found}`)
}

function wrong(argument: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument}: ${message}`, { argument })
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
