declare global {
  // Of lib.esnext.disposable, for those who compile against an older one. It stands here, where every public declaration
  // leads.
  interface SymbolConstructor {
    readonly dispose: unique symbol
    readonly asyncDispose: unique symbol
  }
}

/** A `URL`, described without it, for those who compile without the types of browsers or Node. */
export interface UrlLike {
  readonly href: string
}

/** What `fetch` gives, as far as it is used. */
export interface ResponseLike {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly url: string
  arrayBuffer(): Promise<ArrayBuffer>
}

/** A compiled `WebAssembly.Module`, which has no properties of its own. */
export interface CompiledModule {
  readonly [Symbol.toStringTag]?: string
}

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[]

/** An object that JSON can hold. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}

/**
 * Who says a message. `tool_result` is the role of messages with the results of tool calls; `tool`, the role of tool
 * definitions, is taken for those as well, but the Python package looks for definitions in such messages when it calls a
 * model.
 */
export type Role = 'user' | 'assistant' | 'system' | 'tool' | 'tool_result'

export interface TextPart {
  type: 'text'
  text: string
}

/** What a model thought before it answered. */
export interface ThinkingPart {
  type: 'thinking'
  text: string
}

/** Where the data of a media part is: within it as base64 text, or at a URL. */
export type MediaSource =
  | { type: 'base64'; data: string; media_type: string }
  | { type: 'url'; url: string }

export interface MediaPart {
  type: 'image' | 'video' | 'audio' | 'pdf'
  source: MediaSource
}

/** A tool call of the assistant. */
export interface ToolUsePart {
  type: 'tool_use'
  /** What the result of the call refers to. */
  call_id: string
  name: string
  /** The arguments as JSON text. */
  arguments: string
  approval_status?: 'pending' | 'approved' | 'denied' | (string & {})
}

/** The result of a tool call. */
export interface ToolResultPart {
  type: 'tool_result'
  call_id: string
  content: string
  execution_status?:
    | 'waiting_for_approval'
    | 'waiting_for_execution'
    | 'denied'
    | 'executing'
    | 'executed'
    | 'aborted'
    | (string & {})
}

/** A tool that the model may call; part of a tool definitions message. */
export interface ToolPart {
  type: 'tool'
  name: string
  description?: string
  /** The JSON schema of the arguments. */
  parameters?: JsonObject
}

/** A part of a message. Files may hold parts of other types, which are kept as they are. */
export type ContentPart =
  | TextPart
  | ThinkingPart
  | MediaPart
  | ToolUsePart
  | ToolResultPart
  | ToolPart

/** A message to be stored; any plain object of this shape serves. Keys that are not named here are kept. */
export interface SessionMessage {
  role: Role
  content?: readonly ContentPart[]
  /** A uuid; made when it is absent. */
  id?: string
  metadata?: JsonObject
  /** Local time in ISO 8601 without a zone; made when it is absent. */
  creation_timestamp?: string
  /** `Message`, or the name of a message class of the Python package. */
  _type?: string
  _hook_ids?: readonly string[]
  /** Taken for the number of tokens under `cl100k_base`, which is then not counted. */
  token_count?: number
  readonly [key: string]: unknown
}

/** A message as it is stored: a deeply frozen snapshot. */
export interface StoredMessage extends Readonly<SessionMessage> {
  readonly id: string
  readonly creation_timestamp: string
  readonly _type: string
  readonly _hook_ids: readonly string[]
  /** When it was appended, in the count of its context; absent in some files of other programs. */
  readonly _sequence_number?: number
}

/** A message that names itself the system prompt or the tool definitions; its role may be absent. */
export type SpecialMessage = Omit<SessionMessage, 'role'> & { role?: Role }

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

/** What a window may not take apart. `'message'` (the default): nothing, it may begin at any message. */
export type Boundary = 'message'

/** Options of a window. */
export interface WindowOptions {
  boundary?: Boundary
}

/** What a window keeps and drops, and what it counted to decide. */
export interface WindowReport {
  readonly boundary: Boundary
  /** The count, or the token budget. */
  readonly limit: number
  /** The encoding counted in; `null` for a sequence window. */
  readonly encoding: EncodingName | null
  /** Ids of the non-special messages that stay, in display order. */
  readonly kept: readonly string[]
  /** Ids of the non-special messages that go, in display order. */
  readonly dropped: readonly string[]
  /** Tokens of the system prompt and the tool definitions; `null` for a sequence window. */
  readonly specialTokens: number | null
  /** Tokens of all messages; `null` for a sequence window. */
  readonly tokensBefore: number | null
  /** Tokens of the messages that stay, special ones included; `null` for a sequence window. */
  readonly tokensAfter: number | null
  /** The tokens of each message, special ones included, by its id; `null` for a sequence window. */
  readonly tokens: Readonly<Record<string, number>> | null
}

/** The encodings of tiktoken; `gpt2` is another name of `r50k_base`. */
export type EncodingName =
  | 'r50k_base'
  | 'gpt2'
  | 'p50k_base'
  | 'p50k_edit'
  | 'cl100k_base'
  | 'o200k_base'
  | 'o200k_harmony'

/** A session in a list: what its `session.json` says. */
export interface SessionSummary {
  readonly uuid: string
  readonly sessionDir: string
  readonly activeContextId: string | null
  readonly isActive: boolean
  readonly autoApproveTools: readonly string[]
  /** When it was last saved; `null` where the storage does not tell. */
  readonly modifiedAt: Date | null
}
