import type { Boundary, EncodingName, PartKind, WindowProblem, WindowReason } from '../generated/lists.js'
import { deepFreeze } from '../wasm/json-text.js'

/** Tokens by the kind of part that they belong to. */
export type PartTokens = { readonly [kind in PartKind]: number }

/** Sums over all messages and over those that are kept, special messages included. */
export interface BeforeAfter<T> {
  /** Over all messages. */
  readonly before: T
  /** Over the messages that are kept. */
  readonly after: T
}

/** What a window keeps and drops, and the token counts behind the decision. */
export interface WindowReport {
  /** What the window must not split. */
  readonly boundary: Boundary
  /** The limit in messages, or in tokens for a token window. */
  readonly limit: number
  /** Tokens of the budget that were set aside for the reply. */
  readonly reserve: number
  /** What the window cuts down to when it must cut; `null` if that is the limit. */
  readonly lowerMark: number | null
  /** The encoding of the counts; `null` for a sequence window, or if a `counter` counted. */
  readonly encoding: EncodingName | null
  /** Ids of the non-special messages that are kept, in display order. */
  readonly kept: readonly string[]
  /** Ids of the non-special messages that are dropped, in display order. */
  readonly dropped: readonly string[]
  /** Every message, special ones included, in display order. */
  readonly messages: readonly { readonly id: string; readonly kept: boolean; readonly reason: WindowReason }[]
  /**
   * Tool calls after which the assistant continued without a result, and results without a call. Providers reject both. `id`
   * is the id of the message.
   */
  readonly broken: readonly {
    readonly id: string
    readonly callId: string
    readonly problem: WindowProblem
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

/** The report of a token window: all counts are present. */
export interface TokenWindowReport extends WindowReport {
  readonly specialTokens: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly unchangedPrefixTokens: number
  readonly tokens: Readonly<Record<string, number>>
  readonly tokensByRole: BeforeAfter<Readonly<Record<string, number>>>
  readonly tokensByPart: BeforeAfter<PartTokens>
}

/** A report as Rust returns it: each id once, and positions, numbers and flags instead of ids. */
interface CompactReport
  extends Omit<WindowReport, 'kept' | 'dropped' | 'messages' | 'broken' | 'pending' | 'tokens' | 'tokensByRole'> {
  /** All reasons, each with whether it keeps a message. */
  readonly reasons: readonly (readonly [reason: WindowReason, kept: boolean])[]
  readonly ids: readonly string[]
  /** For each message the index of its reason. */
  readonly reasonIndices: readonly number[]
  readonly broken: readonly (readonly [position: number, callId: string, problem: WindowProblem])[]
  readonly pending: readonly (readonly [position: number, callId: string])[]
  readonly tokens: readonly number[] | null
  readonly tokensByRole: WindowReport['tokensByRole']
}

/**
 * Reads a report that Rust returned as text.
 * @internal
 */
export function reportOf(text: string): WindowReport {
  const { reasons, ids, reasonIndices, broken, pending, tokens, ...compact }: CompactReport = JSON.parse(text)
  const kept: string[] = []
  const dropped: string[] = []
  const messages = ids.map((id, position) => {
    const [reason, keeps] = reasons[reasonIndices[position] as number] as [WindowReason, boolean]
    if (!keeps) dropped.push(id)
    else if (reason !== 'special') kept.push(id)
    return Object.freeze({ id, kept: keeps, reason })
  })
  const message = (position: number) => messages[position] as (typeof messages)[number]
  return Object.freeze({
    boundary: compact.boundary,
    limit: compact.limit,
    reserve: compact.reserve,
    lowerMark: compact.lowerMark,
    encoding: compact.encoding,
    kept: Object.freeze(kept),
    dropped: Object.freeze(dropped),
    messages: Object.freeze(messages),
    broken: deepFreeze(
      broken.map(([position, callId, problem]) => {
        const { id, kept } = message(position)
        return { id, callId, problem, kept }
      }),
    ),
    pending: deepFreeze(pending.map(([position, callId]) => ({ id: message(position).id, callId }))),
    specialTokens: compact.specialTokens,
    tokensBefore: compact.tokensBefore,
    tokensAfter: compact.tokensAfter,
    unchangedPrefixTokens: compact.unchangedPrefixTokens,
    tokens: tokens && Object.freeze(Object.fromEntries(ids.map((id, position) => [id, tokens[position] as number]))),
    tokensByRole: deepFreeze(compact.tokensByRole),
    tokensByPart: deepFreeze(compact.tokensByPart),
  })
}
