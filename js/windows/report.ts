import type { EncodingName } from '../tokens/encodings.js'
import type { Boundary } from './options.js'

/**
 * Why a window keeps or drops a message; the names are stable.
 *
 * Kept: `special`, the system prompt or the tool definitions; `pinned`; `pinned-exchange`, it belongs to the exchange of a
 * pinned one; `prompt`, what is kept was asked for here; `recent`, it is one of the newest.
 *
 * Dropped: `over-limit`, with it and what is newer there would be too much; `exchange`, it would fit, but not its exchange,
 * or one that it stands in; `turn`, it would fit, but the window would not begin at a prompt; `lower-mark`, it would fit, but
 * the window cuts down to the mark.
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
  readonly text: number
  readonly thinking: number
  readonly toolCall: number
  readonly toolResult: number
  /** Images, videos, sounds and PDF documents. */
  readonly media: number
  readonly toolDefinition: number
  /** Parts of other types, and messages without parts. */
  readonly other: number
}

/** Sums over all messages, and over those that stay, special ones included. */
export interface BeforeAfter<T> {
  readonly before: T
  readonly after: T
}

/** What a window keeps and drops, and what it counted to decide. */
export interface WindowReport {
  readonly boundary: Boundary
  /** The count, or the token budget. */
  readonly limit: number
  /** Tokens of the budget that were set aside for the reply. */
  readonly reserve: number
  /** What the window cuts down to when it must cut; `null` where that is the limit. */
  readonly lowerMark: number | null
  /** The encoding counted in; `null` for a sequence window, and with a `counter` of the caller's own. */
  readonly encoding: EncodingName | null
  /** Ids of the non-special messages that stay, in display order. */
  readonly kept: readonly string[]
  /** Ids of the non-special messages that go, in display order. */
  readonly dropped: readonly string[]
  /** Every message, special ones included, in display order. */
  readonly messages: readonly { readonly id: string; readonly kept: boolean; readonly reason: WindowReason }[]
  /**
   * Calls that the assistant went on without the result of, and results of calls that are not there, which providers
   * refuse: `id` is that of the message.
   */
  readonly broken: readonly {
    readonly id: string
    readonly callId: string
    readonly problem: 'call-without-result' | 'result-without-call'
    readonly kept: boolean
  }[]
  /** Calls whose results may still come: the assistant has not spoken since. They stay. */
  readonly pending: readonly { readonly id: string; readonly callId: string }[]
  /** Tokens of the system prompt and the tool definitions; `null` for a sequence window. */
  readonly specialTokens: number | null
  /** Tokens of all messages; `null` for a sequence window. */
  readonly tokensBefore: number | null
  /** Tokens of the messages that stay, special ones included; `null` for a sequence window. */
  readonly tokensAfter: number | null
  /**
   * Tokens of the messages before the first that goes: the beginning that stays as it is, which a provider may have in its
   * cache; `null` for a sequence window.
   */
  readonly unchangedPrefixTokens: number | null
  /** The tokens of each message, special ones included, by its id; `null` for a sequence window. */
  readonly tokens: Readonly<Record<string, number>> | null
  /** Tokens by role; `null` for a sequence window. */
  readonly tokensByRole: BeforeAfter<Readonly<Record<string, number>>> | null
  /**
   * Tokens by kind of part; `null` for a sequence window. A token belongs to the part that it begins in, so that the sums
   * are those above; what a `counter` or a stored `token_count` says is shared out.
   */
  readonly tokensByPart: BeforeAfter<PartTokens> | null
}
