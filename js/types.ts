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

/** What a model thought before it answered. The optional fields are what its provider wants to see again. */
export interface ThinkingPart {
  type: 'thinking'
  text: string
  /** Of Anthropic. */
  signature?: string
  /** Of OpenAI's Responses: the id of the item. */
  id?: string
  /** Of OpenAI's Responses. */
  encrypted_content?: string
  /** Of Gemini; stands on other parts as well. */
  thought_signature?: string
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
  /** The tool failed, and `content` says why. */
  is_error?: boolean
  /** The name of the tool, for a result whose call is not there. */
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

/**
 * What a window may not take apart.
 *
 * `'message'` (the default): nothing, it may begin at any message. `'exchange'`: a message with tool calls and the messages
 * with their results, matched by `call_id`. `'turn'`: as `'exchange'`, and it begins at a message of the user that is no
 * tool result; where the newest turn does not fit whole, its prompt is kept, and of what followed the newest exchanges.
 */
export type Boundary = 'message' | 'exchange' | 'turn'

/**
 * What an image, a video, a sound or a PDF document costs in tokens: that of its text in the message, base64 data included
 * (`'reference'`, the default, which is what the Python package counts); so many each; or what a function says, which is
 * called once for a part, and whose result is rounded up.
 */
export type MediaCost = 'reference' | number | ((part: MediaPart) => number)

/**
 * Counts tokens in place of an encoding.
 *
 * @param text The text that an encoding would count: `<role>: <content as JSON>`, without media where these are not
 * counted by their text.
 * @param message The message itself.
 * @returns The number of tokens, which is rounded up. It is asked for once for a message, until the message changes.
 */
export type Counter = (text: string, message: StoredMessage) => number

/** How tokens are counted. */
export interface CountingOptions {
  /** By default `'reference'`. */
  media?: MediaCost
  /** By default the encoding counts. Define it outside of a loop: what it has counted is known by the function. */
  counter?: Counter
}

/** Options of a sequence window. */
export interface SequenceWindowOptions {
  /** By default `'message'`. */
  boundary?: Boundary
  /**
   * When the window must cut, it cuts down to `to`, so that what is left stays the same for many turns, and a provider can
   * take its beginning from a cache. In messages, or in tokens for a token window; no more than the limit less the reserve.
   */
  hysteresis?: { to: number }
  /**
   * Ids of messages that are kept wherever the window begins, each with its exchange, and for the boundary `'turn'` with
   * the prompt before. They count first.
   */
  pin?: readonly string[]
}

/** Options of a token window. */
export interface TokenWindowOptions extends SequenceWindowOptions, CountingOptions {
  /** Tokens of the budget that are set aside for the reply. By default 0. */
  reserve?: number
}

/** Options of a window. */
export type WindowOptions = TokenWindowOptions

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

/** What `Session.check` looks for; the names are stable. docs/damage.md says more of each. */
export type FindingRule =
  /** There are context files, but no `session.json`. */
  | 'missing-session-file'
  /** The storage could not read the file. */
  | 'unreadable-file'
  /** The file is larger than the limit. */
  | 'file-too-large'
  /** The file holds nothing. */
  | 'empty-file'
  /** NUL bytes stand where text should be. */
  | 'nul-bytes'
  /** The text ends too early. */
  | 'torn-file'
  /** `NaN` or `Infinity` stands where a number should be. */
  | 'non-finite-number'
  /** The text is no JSON for another reason, or beyond what is read of nesting and values. */
  | 'not-json'
  /** A field is not what it has to be. */
  | 'wrong-shape'
  /** The uuid is not the name of the directory. */
  | 'uuid-mismatch'
  /** The id is not the name of the file. */
  | 'id-mismatch'
  /** The active context has no file. */
  | 'dangling-active-context'
  /** A child has no file. */
  | 'dangling-child'
  /** The context that this one was forked from has no file. */
  | 'dangling-origin'
  /** An anchor stands after the last message. */
  | 'anchor-out-of-range'
  /** An anchor stands before the one that precedes it in the list. */
  | 'anchors-not-ascending'
  /** Two anchors have the same name. */
  | 'duplicate-anchor'
  /** A counter is lower than what it has counted. */
  | 'counter-lags'
  /** Two messages have the same id. */
  | 'duplicate-message-id'
  /** Two messages have the same sequence number. */
  | 'duplicate-sequence-number'
  /** No message has the id of the special message. */
  | 'dangling-special-message'
  /** The special message does not stand where it is one, or is of another class. */
  | 'misplaced-special-message'
  /** The conversation went on after a tool call without its result. */
  | 'call-without-result'
  /** No message has the call that a tool result is of. */
  | 'result-without-call'
  /** An escape of half a surrogate pair. */
  | 'lone-surrogate'
  /** A key that stands twice in an object. */
  | 'duplicate-key'
  /** The file begins with a byte order mark. */
  | 'byte-order-mark'
  /** What a write that was killed has left. */
  | 'leftover-file'
  /** A copy that a repair has kept. */
  | 'kept-copy'
  /** A file that is not part of the format. */
  | 'other-file'

/** Something that is wrong with the files of a session, or worth to know. */
export interface Finding {
  /** What was looked for. */
  readonly rule: FindingRule
  /**
   * `error`: the file, or the session, cannot be loaded. `warning`: it is loaded, but something in it is not as it should
   * be. `info`: nothing is wrong.
   */
  readonly severity: 'error' | 'warning' | 'info'
  /** The path of the file. */
  readonly path: string
  /** The field at fault, such as `messages[3].id`; absent where it is about the file. */
  readonly field?: string
  /** The line at fault, from 1; absent where the field says enough. */
  readonly line?: number
  /** The column at fault in bytes, from 1; present where `line` is. */
  readonly column?: number
  /** What is wrong, and what to do. */
  readonly message: string
  /** Whether `Session.repair` mends it. */
  readonly repairable: boolean
}

/** What `Session.check` has found. */
export interface SessionCheck {
  /** There is no error and no warning. */
  readonly ok: boolean
  /**
   * Those of `session.json` first, then those of the contexts by their names, then those of other files. Of one rule and
   * file no more than a hundred are listed; the last says how many there are beyond.
   */
  readonly findings: readonly Finding[]
}

/** Something that `Session.repair` has done. */
export interface RepairAction {
  /** The rule of what was mended. */
  readonly rule: FindingRule
  /** The path of the file that was changed, made or removed. */
  readonly path: string
  /** What was done. */
  readonly message: string
  /** The path of the copy of the file as it was before; absent where there was no file, or nothing in it to keep. */
  readonly copy?: string
}

/** What `Session.repair` has done, and what is left. */
export interface SessionRepair {
  /** In the order in which it was done; nothing where nothing could be mended. */
  readonly actions: readonly RepairAction[]
  /** The session as it is now. */
  readonly check: SessionCheck
}
