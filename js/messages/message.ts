import type { JsonObject } from './json.js'

/**
 * The author of a message. `tool_result` is the role of messages with the results of tool calls; `tool`, the role of tool
 * definitions, is accepted for them too, but the Python package looks for definitions in such messages when it calls a
 * model.
 */
export type Role = 'user' | 'assistant' | 'system' | 'tool' | 'tool_result'

/** A text. */
export interface TextPart {
  /** The type of the part. */
  type: 'text'
  /** The text itself. */
  text: string
}

/** The reasoning of a model before its answer. The optional fields must be returned to its provider. */
export interface ThinkingPart {
  type: 'thinking'
  text: string
  /** From Anthropic. */
  signature?: string
  /** From OpenAI's Responses: the id of the item. */
  id?: string
  /** From OpenAI's Responses. */
  encrypted_content?: string
  /** From Gemini; other parts may have it too. */
  thought_signature?: string
}

/** The data of a media part, as base64 text with its media type, or its URL. */
export type MediaSource = { type: 'base64'; data: string; media_type: string } | { type: 'url'; url: string }

/** An image, a video, a sound or a PDF document. */
export interface MediaPart {
  /** The type of the part. */
  type: 'image' | 'video' | 'audio' | 'pdf'
  /** Where the data is. */
  source: MediaSource
}

/** A tool call of the assistant. */
export interface ToolUsePart {
  type: 'tool_use'
  /** The id that the result refers to. */
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
  /** Whether the tool failed; `content` then says why. */
  is_error?: boolean
  /** The name of the tool, for a result without its call. */
  name?: string
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
export type ContentPart = TextPart | ThinkingPart | MediaPart | ToolUsePart | ToolResultPart | ToolPart

/** A message to be stored: any plain object of this shape. Other keys are kept. */
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
  readonly [key: string]: unknown
}

/** A message as it is stored: a deeply frozen snapshot. */
export interface StoredMessage extends Readonly<SessionMessage> {
  readonly id: string
  readonly creation_timestamp: string
  readonly _type: string
  readonly _hook_ids: readonly string[]
  /** Its position in the order of appends to its context, from 0; absent in some files of other programs. */
  readonly _sequence_number?: number
}

/** A message that names itself the system prompt or the tool definitions; its role may be absent. */
export type SpecialMessage = Omit<SessionMessage, 'role'> & { role?: Role }
