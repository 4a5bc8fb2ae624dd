import type { StoredMessage } from '../messages/message.js'

/** The name of an anchor and the index of the message after its partition. */
export type AnchorPoint = readonly [name: string, index: number]

/** The dict of a context, as its file holds it. */
export interface ContextDict {
  /** The messages in display order. */
  readonly messages: readonly StoredMessage[]
  /** The id of the context. */
  readonly id: string
  /** Texts by their SHA-256. */
  readonly content_map: Readonly<Record<string, string>>
  /** The anchors in ascending order. */
  readonly anchor_points: readonly AnchorPoint[]
  /** The number of messages appended so far. */
  readonly message_sequence: number
  /** The number of changes so far. It gives each message its sequence number. */
  readonly _mutation_counter: number
  /** The ids of the contexts that were forked from this one. */
  readonly children: readonly string[]
  /** The id of the system prompt. */
  readonly system_prompt_message_id?: string | null
  /** The id of the tool definitions. */
  readonly tool_definitions_message_id?: string | null
  /** The id of the context that this one was forked from. */
  readonly origin_context_id?: string | null
  /** Written by the Python package for forks. */
  readonly parent_mutation_counter?: number
  /** When each anchor was added, in order of creation. */
  readonly _anchor_sequences?: readonly number[]
  readonly [key: string]: unknown
}

/** The dict of a session, as `session.json` holds it. */
export interface SessionDict {
  /** The id of the session. */
  readonly uuid: string
  /** The id of the active context. */
  readonly active_context_id: string | null
  /** The names of the tools that run without approval. */
  readonly auto_approve_tools: readonly string[]
  /** The variables of the state by name. */
  readonly state_data: Readonly<Record<string, string>>
  /** Whether a running agent uses the session. */
  readonly is_active: boolean
  readonly [key: string]: unknown
}
