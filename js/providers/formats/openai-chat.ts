import type { JsonSchema } from '../json-schema.js'

/** Fields of a request to OpenAI's Chat Completions API. */
export interface OpenAiChatRequest {
  messages: OpenAiChatMessage[]
  tools?: OpenAiChatTool[]
}

export type OpenAiChatMessage =
  | { role: 'system'; content: string | OpenAiChatText[] }
  | { role: 'user'; content: string | OpenAiChatUserPart[] }
  | { role: 'assistant'; content: string | OpenAiChatText[] | null; tool_calls?: OpenAiChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

export interface OpenAiChatText {
  type: 'text'
  text: string
}

export type OpenAiChatUserPart =
  | OpenAiChatText
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { filename: string; file_data: string } }

export interface OpenAiChatToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface OpenAiChatTool {
  type: 'function'
  function: { name: string; description?: string; parameters?: JsonSchema; strict?: boolean }
}
