import type { EncodingName } from '../tokens/encodings.js'
import type { Boundary } from './options.js'

/**
 * Why a window keeps or drops a message; the names are stable.
 *
 * Kept: `special`, it is the system prompt or the tool definitions; `pinned`, it is pinned; `pinned-exchange`, it belongs to
 * the exchange of a pinned message; `prompt`, it is the prompt of what is kept; `recent`, it is one of the newest.
 *
 * Dropped: `over-limit`, it and everything newer exceed the limit; `exchange`, it would fit, but its exchange or one around it
 * would not; `turn`, it would fit, but the window would not begin at a prompt; `lower-mark`, it would fit, but the window cuts
 * down to the lower mark.
 */
export type WindowReason =
  | 'special'
  | 'pinned'
  | 'pinned-exchange'
  | 'prompt'
  | 'recent'
  | 'over-limit'
  | 'exchange'
  | 'turn'
  | 'lower-mark'

/** Tokens by the kind of part that they belong to. */
export interface PartTokens {
  /** Texts. */
  readonly text: number
  /** Thinking. */
  readonly thinking: number
  /** Tool calls. */
  readonly toolCall: number
  /** Tool results. */
  readonly toolResult: number
  /** Images, videos, sounds and PDF documents. */
  readonly media: number
  /** Tool definitions. */
  readonly toolDefinition: number
  /** Parts of other types, and messages without parts. */
  readonly other: number
}

/** Sums over all messages and over those that are kept, special messages included. */
export interface BeforeAfter<T> {
  /** Over all messages. */
  readonly before: T
  /** Over the messages that are kept. */
  readonly after: T
}

/** What a window keeps and drops, and the counts that it decided by. */
export interface WindowReport {
  /** What the window must not split. */
  readonly boundary: Boundary
  /** The limit in messages, or in tokens for a token window. */
  readonly limit: number
  /** Tokens of the budget that were set aside for the reply. */
  readonly reserve: number
  /** What the window cuts down to when it must cut; `null` if that is the limit. */
  readonly lowerMark: number | null
  /** The encoding that was counted in; `null` for a sequence window, or if a `counter` counted. */
  readonly encoding: EncodingName | null
  /** Ids of the non-special messages that are kept, in display order. */
  readonly kept: readonly string[]
  /** Ids of the non-special messages that are dropped, in display order. */
  readonly dropped: readonly string[]
  /** Every message, special ones included, in display order. */
  readonly messages: readonly { readonly id: string; readonly kept: boolean; readonly reason: WindowReason }[]
  /**
   * Tool calls after which the assistant went on without a result, and results without a call. Providers refuse both. `id`
   * is the id of the message.
   */
  readonly broken: readonly {
    readonly id: string
    readonly callId: string
    readonly problem: 'call-without-result' | 'result-without-call'
    readonly kept: boolean
  }[]
  /** Tool calls whose results may still come, because the assistant has not spoken since. They are kept. */
  readonly pending: readonly { readonly id: string; readonly callId: string }[]
  /** Tokens of the system prompt and the tool definitions; `null` for a sequence window. */
  readonly specialTokens: number | null
  /** Tokens of all messages; `null` for a sequence window. */
  readonly tokensBefore: number | null
  /** Tokens of the messages that are kept, special messages included; `null` for a sequence window. */
  readonly tokensAfter: number | null
  /**
   * Tokens of the messages before the first that is dropped: the unchanged beginning, which a provider may have cached; `null` for a sequence window.
   */
  readonly unchangedPrefixTokens: number | null
  /** The tokens of each message, special ones included, by its id; `null` for a sequence window. */
  readonly tokens: Readonly<Record<string, number>> | null
  /** Tokens by role; `null` for a sequence window. */
  readonly tokensByRole: BeforeAfter<Readonly<Record<string, number>>> | null
  /**
   * Tokens by kind of part; `null` for a sequence window. A token belongs to the part that it begins in, so the sums equal
   * the totals above. The result of a `counter`, or a stored `token_count`, is divided in proportion.
   */
  readonly tokensByPart: BeforeAfter<PartTokens> | null
}
