import type { JsonObject } from './json.js'

/**
 * The author of a message. `tool_result` is the role of messages with the results of tool calls; `tool`, the role of tool
 * definitions, is accepted for them too, but the Python package looks for definitions in such messages when it calls a
 * model.
 */
export type Role = 'user' | 'assistant' | 'system' | 'tool' | 'tool_result'

/** When Anthropic caches the request up to this part. https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching */
export interface CacheControl {
  type: 'ephemeral'
  /** How long; five minutes by default. */
  ttl?: '5m' | '1h'
}

/** Fields that a part of any type may have: what its provider needs back. */
export interface ProviderFields {
  /** For Anthropic. */
  cache_control?: CacheControl
  /** From Gemini. */
  thought_signature?: string
  /** From the AI SDK: options of each provider by its name. */
  provider_options?: JsonObject
}

/** A text. */
export interface TextPart extends ProviderFields {
  /** The type of the part. */
  type: 'text'
  /** The text itself. */
  text: string
}

/** The reasoning of a model before its answer. The optional fields must be returned to its provider. */
export interface ThinkingPart extends ProviderFields {
  type: 'thinking'
  text: string
  /** From Anthropic. */
  signature?: string
  /** From OpenAI's Responses: the id of the item. */
  id?: string
  /** From OpenAI's Responses. */
  encrypted_content?: string
}

/** Reasoning that only its provider can read, from Anthropic. */
export interface RedactedThinkingPart extends ProviderFields {
  type: 'redacted_thinking'
  /** The encrypted reasoning. */
  data: string
}

/** The data of a media part, as base64 text with its media type, or its URL. */
export type MediaSource = { type: 'base64'; data: string; media_type: string } | { type: 'url'; url: string }

/** An image, a video, a sound or a PDF document. */
export interface MediaPart extends ProviderFields {
  /** The type of the part. */
  type: 'image' | 'video' | 'audio' | 'pdf'
  /** Where the data is. */
  source: MediaSource
  /** The name of the file. */
  filename?: string
  /** The resolution at which OpenAI looks at an image. */
  detail?: 'low' | 'high' | 'auto' | (string & {})
}

/** A tool call of the assistant. */
export interface ToolUsePart extends ProviderFields {
  type: 'tool_use'
  /** The id that the result refers to. */
  call_id: string
  name: string
  /** The arguments as JSON text. */
  arguments: string
  approval_status?: 'pending' | 'approved' | 'denied' | (string & {})
}

/** A part of the content of a tool result. */
export type ResultPart = TextPart | MediaPart

/** The state of the execution of a tool call. */
export type ExecutionStatus =
  | 'waiting_for_approval'
  | 'waiting_for_execution'
  | 'denied'
  | 'executing'
  | 'executed'
  | 'aborted'
  | (string & {})

/** The result of a tool call. */
export interface ToolResultPart extends ProviderFields {
  type: 'tool_result'
  /** The id of the call. */
  call_id: string
  /** What the tool returned: a text, or a list of texts and media. */
  content: string | readonly ResultPart[]
  /** Whether the tool failed; `content` then says why. */
  is_error?: boolean
  /** The name of the tool, for a result without its call. */
  name?: string
  execution_status?: ExecutionStatus
}

/** A tool that the model may call; part of a tool definitions message. */
export interface ToolPart extends ProviderFields {
  type: 'tool'
  name: string
  description?: string
  /** The JSON schema of the arguments. */
  parameters?: JsonObject
  /** Whether the provider guarantees that the arguments match the schema. */
  strict?: boolean
}

/** A part of a message. Files may hold parts of other types, which are kept as they are. */
export type ContentPart =
  | TextPart
  | ThinkingPart
  | RedactedThinkingPart
  | MediaPart
  | ToolUsePart
  | ToolResultPart
  | ToolPart

/** A message to be stored: any plain object of this shape. Other keys of an object are kept. */
export interface SessionMessage {
  /** The author. */
  role: Role
  /** The parts, in order. */
  content?: readonly ContentPart[]
  /** A uuid; generated if it is absent. */
  id?: string
  /** Any data of the caller. */
  metadata?: JsonObject
  /** Local time in ISO 8601 without a time zone; the current time if it is absent. */
  creation_timestamp?: string
  /** `Message`, or the name of a message class of the Python package. */
  _type?: string
  /** The ids of the hooks that contribute to the content. */
  _hook_ids?: readonly string[]
  /** The number of tokens in `cl100k_base`. If it is present, the message is not counted. */
  token_count?: number
}

/** A message as it is stored: a deeply frozen snapshot. */
export interface StoredMessage extends Readonly<SessionMessage> {
  readonly id: string
  readonly creation_timestamp: string
  readonly _type: string
  readonly _hook_ids: readonly string[]
  /** Its position in the order of appends to its context, from 0; absent in some files of other programs. */
  readonly _sequence_number?: number
  /** The other keys of the message. */
  readonly [key: string]: unknown
}

/** A message that names itself the system prompt or the tool definitions; its role may be absent. */
export type SpecialMessage = Omit<SessionMessage, 'role'> & { role?: Role }
