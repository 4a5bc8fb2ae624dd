import { wrapMethods } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import { readOptions } from '../read-options.js'
import { copyJson, fillIn, toJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import { passText } from '../wasm/text.js'
import type { JsonObject } from './json.js'
import type {
  ExecutionStatus,
  MediaPart,
  MediaSource,
  ContentPart as Part,
  ResultPart,
  Role,
  SessionMessage,
  TextPart,
  ThinkingPart,
  ToolPart,
  ToolResultPart,
  ToolUsePart,
} from './message.js'

/** A message with the fields that every stored message has. */
export type Message = SessionMessage & Required<Pick<SessionMessage, 'id' | 'creation_timestamp' | '_type'>>
/** The message that holds the system prompt. */
export type SystemPromptMessage = Message
/** The message that holds the tools a model may call. */
export type ToolDefinitionsMessage = Message
/** A part of a message. */
export type ContentPart = Part

/** Options of {@link ContentPart.toolResult}. */
export interface ToolResultOptions {
  /** Whether the tool failed; the content then says why. By default `false`. */
  isError?: boolean
  /** The state of the execution. By default `'executed'`. */
  status?: ExecutionStatus
}

const RESULT_OPTIONS = ['isError', 'status'] as const

/** Creates messages. They are plain objects; any object of the same shape works as well. */
export const Message = /* @__PURE__ */ wrapMethods({
  /**
   * Creates a message with an id and the current time.
   *
   * @example
   * ```ts
   * import { Message } from 'peteos-session'
   *
   * console.log(Message.create('user', 'Hello').content) // [ { type: 'text', text: 'Hello' } ]
   * ```
   *
   * @param content The parts, or a text, which becomes the only part. By default there is none.
   * @param metadata Any data of the caller, stored with the message.
   * @throws {InvalidMessageError} if a field has the wrong shape; `field` is its path.
   */
  create(role: Role, content: string | readonly ContentPart[] = [], metadata?: JsonObject): Message {
    const parts = typeof content === 'string' ? [ContentPart.text(content)] : content
    const fields = metadata === undefined ? { role, content: parts } : { role, content: parts, metadata }
    const { text, value } = copyJson(fields, 'message')
    const { completeMessage } = rust()
    return fillIn<Message>(JSON.parse(completeMessage(passText(text))), value)
  },
})

/** Creates system prompts. */
export const SystemPromptMessage = /* @__PURE__ */ wrapMethods({
  /** Creates a system prompt with this text, or without one if hooks provide it. */
  create(staticText?: string): SystemPromptMessage {
    if (!staticText) return completeSpecial({ role: 'system' }, 'SystemPromptMessage')
    const message = completeSpecial({ _static_text: staticText, role: 'system' }, 'SystemPromptMessage')
    return { ...message, content: [ContentPart.text(staticText)] }
  },
})

/** Creates tool definitions. */
export const ToolDefinitionsMessage = /* @__PURE__ */ wrapMethods({
  /** Creates the definitions of tools, each with `name`, `description` and `parameters` (a JSON schema). */
  create(tools: readonly (Omit<ToolPart, 'type'> & { type?: 'tool' })[] = []): ToolDefinitionsMessage {
    return completeSpecial({ role: 'tool', content: tools }, 'ToolDefinitionsMessage')
  },
})

/** Creates the parts of messages. They are plain objects; any object of the same shape works as well. */
export const ContentPart = /* @__PURE__ */ wrapMethods({
  /** A text. */
  text(text: string): TextPart {
    return { type: 'text', text }
  },

  /** The reasoning of a model, which `stripThinking` leaves out. */
  thinking(text: string): ThinkingPart {
    return { type: 'thinking', text }
  },

  /** An image, as base64 data with its media type or at a URL. */
  image(source: MediaSource): MediaPart {
    return { type: 'image', source }
  },

  /** A video. */
  video(source: MediaSource): MediaPart {
    return { type: 'video', source }
  },

  /** A sound. */
  audio(source: MediaSource): MediaPart {
    return { type: 'audio', source }
  },

  /** A PDF document. */
  pdf(source: MediaSource): MediaPart {
    return { type: 'pdf', source }
  },

  /**
   * A tool call.
   *
   * @param args The arguments: an object, or the JSON text from the model, which is kept unchanged.
   */
  toolUse(callId: string, name: string, args: string | JsonObject): ToolUsePart {
    const text = typeof args === 'string' ? args : toJsonText(args, 'arguments')
    return { type: 'tool_use', call_id: callId, name, arguments: text, approval_status: 'pending' }
  },

  /**
   * The result of the call with this id. It is `executed` unless `options.status` says otherwise.
   *
   * @example
   * ```ts
   * import { ContentPart } from 'peteos-session'
   *
   * ContentPart.toolResult('call-1', '118 tests passed')
   * ContentPart.toolResult('call-2', 'No such file', { isError: true })
   * ContentPart.toolResult('call-3', [
   *   { type: 'text', text: 'The page:' },
   *   { type: 'image', source: { type: 'url', url: 'https://example.com/page.png' } },
   * ])
   * ```
   *
   * @param content What the tool returned: a text, or a list of texts and media.
   * @throws {InvalidArgumentError} if an option is invalid.
   */
  toolResult(callId: string, content: string | readonly ResultPart[], options?: ToolResultOptions): ToolResultPart {
    const { isError = false, status = 'executed' } = readOptions(options, RESULT_OPTIONS, 'toolResult')
    if (typeof isError !== 'boolean') {
      const argument = 'options.isError'
      throw new InvalidArgumentError(`${argument}: expected true or false`, { argument })
    }
    if (typeof status !== 'string') {
      const argument = 'options.status'
      throw new InvalidArgumentError(`${argument}: expected a string, such as 'executed'`, { argument })
    }
    const part: ToolResultPart = { type: 'tool_result', call_id: callId, content, execution_status: status }
    return isError ? { ...part, is_error: true } : part
  },

  /** The definition of a tool; part of a tool definitions message. */
  tool(name: string, description: string, parameters: JsonObject): ToolPart {
    return { type: 'tool', name, description, parameters }
  },
})

function completeSpecial(fields: object, kind: string): Message {
  const text = toJsonText(fields, 'message')
  const { completeSpecialMessage } = rust()
  return JSON.parse(completeSpecialMessage(passText(text), kind)) as Message
}
