import type { StoredMessage } from '../messages/message.js'

/** The name of an anchor and the index of the message after its partition. */
export type AnchorPoint = readonly [name: string, index: number]

/** The dict of a context, as its file holds it. */
export interface ContextDict {
  readonly messages: readonly StoredMessage[]
  readonly id: string
  readonly content_map: Readonly<Record<string, string>>
  readonly anchor_points: readonly AnchorPoint[]
  readonly message_sequence: number
  readonly _mutation_counter: number
  readonly children: readonly string[]
  readonly system_prompt_message_id?: string | null
  readonly tool_definitions_message_id?: string | null
  readonly origin_context_id?: string | null
  readonly parent_mutation_counter?: number
  readonly _anchor_sequences?: readonly number[]
  readonly [key: string]: unknown
}

/** The dict of a session, as `session.json` holds it. */
export interface SessionDict {
  readonly uuid: string
  readonly active_context_id: string | null
  readonly auto_approve_tools: readonly string[]
  readonly state_data: Readonly<Record<string, string>>
  readonly is_active: boolean
  readonly [key: string]: unknown
}
