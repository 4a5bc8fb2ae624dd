import { wrapMethods } from '../caller-stack.js'
import { copyJson, fillIn, toJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import { passText } from '../wasm/text.js'
import type { JsonObject } from './json.js'
import type {
  MediaPart,
  MediaSource,
  ContentPart as Part,
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

/** Creates messages. They are plain objects; any object of the same shape works as well. */
export const Message = /* @__PURE__ */ wrapMethods({
  /**
   * Creates a message with an id and the current time.
   *
   * @param parts The content. By default there is none.
   * @param metadata Any data of the caller, stored with the message.
   * @throws {InvalidMessageError} if a field has the wrong shape; `field` is its path.
   */
  create(role: Role, parts: readonly ContentPart[] = [], metadata?: JsonObject): Message {
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

  /** The result of the call with this id. */
  toolResult(callId: string, text: string): ToolResultPart {
    return { type: 'tool_result', call_id: callId, content: text, execution_status: 'waiting_for_approval' }
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
