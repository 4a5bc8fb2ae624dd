import type { Boundary, EncodingName, WindowProblem, WindowReason } from '../generated/lists.js'
import type { MediaCost } from '../tokens/counting.js'

/** Options of `trimMessages`. Exactly one of `maxTokens` and `maxMessages` is required. */
export interface TrimOptions<M = unknown> {
  /** The token budget, of everything that is kept: messages, `system`, `tools` and the reserve. */
  maxTokens?: number
  /** The largest number of messages or items, besides the system messages at the front. */
  maxMessages?: number
  /** The encoding of the counts, for `maxTokens`. By default `'cl100k_base'`. */
  encoding?: EncodingName
  /** What must not be split. By default `'turn'`. */
  boundary?: Boundary
  /** When messages have to go, cut down to `to` messages or tokens. By default the limit. */
  hysteresis?: { to: number }
  /** The indices of messages that are always kept, each with its exchange, and with `'turn'` with the prompt before it. */
  pin?: readonly number[]
  /** Tokens of the budget that are set aside for the reply, for `maxTokens`. By default 0. */
  reserve?: number
  /** What media cost, for `maxTokens`. By default `'reference'`: the tokens of their text. */
  media?: MediaCost
  /**
   * Counts tokens in place of an encoding, for `maxTokens`: the text that an encoding would count, and the caller's message.
   * Define it outside of a loop: counts are cached by the function.
   */
  counter?: (text: string, message: M) => number
  /** The system prompt beside the messages, as a text or in the provider's form, to be counted. */
  system?: string | object
  /** The tools of the request in the provider's form, to be counted. */
  tools?: object
}

/** What `trimMessages` keeps and drops, and why. Messages are named by their indices. */
export interface TrimReport {
  readonly boundary: Boundary
  /** `maxTokens` or `maxMessages`. */
  readonly limit: number
  readonly reserve: number
  readonly lowerMark: number | null
  /** The encoding of the counts; `null` with `maxMessages`, or if a `counter` counted. */
  readonly encoding: EncodingName | null
  /** The indices of the messages that are kept, system messages at the front included. */
  readonly kept: readonly number[]
  readonly dropped: readonly number[]
  /** For each message, by its index, whether it is kept, and why. */
  readonly messages: readonly { readonly kept: boolean; readonly reason: WindowReason }[]
  /** Tool calls after which the assistant continued without a result, and results without a call. */
  readonly broken: readonly {
    readonly index: number
    readonly callId: string
    readonly problem: WindowProblem
    readonly kept: boolean
  }[]
  /** Tool calls whose results may still come. They are kept. */
  readonly pending: readonly { readonly index: number; readonly callId: string }[]
  /** Tokens of the system messages at the front, `system` and `tools`; `null` with `maxMessages`, like all counts. */
  readonly specialTokens: number | null
  /** Tokens of everything, and of what is kept. */
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  /** For each message, by its index. */
  readonly tokens: readonly number[] | null
}

/** The result of `trimMessages`. */
export interface Trimmed<M> {
  /** The messages that are kept: the objects of the caller, in order. */
  messages: M[]
  /** The messages that are dropped: the objects of the caller, in order. */
  dropped: M[]
  report: TrimReport
}
