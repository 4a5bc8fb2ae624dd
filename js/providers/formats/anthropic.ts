import type { ObjectSchema } from '../json-schema.js'

/** Fields of a request to Anthropic's Messages API. */
export interface AnthropicRequest {
  system?: string | AnthropicText[]
  messages: AnthropicMessage[]
  tools?: AnthropicTool[]
}

export interface AnthropicMessage {
  role: 'user' | 'assistant'
  content: AnthropicBlock[]
}

/** Marks the end of a prefix that the provider caches. */
export interface AnthropicCacheControl {
  type: 'ephemeral'
  ttl?: '5m' | '1h'
}

export interface AnthropicText {
  type: 'text'
  text: string
  cache_control?: AnthropicCacheControl
}

export type AnthropicBlock =
  | AnthropicText
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | {
      type: 'image'
      source:
        | { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
        | { type: 'url'; url: string }
      cache_control?: AnthropicCacheControl
    }
  | {
      type: 'document'
      source: { type: 'base64'; media_type: 'application/pdf'; data: string } | { type: 'url'; url: string }
      title?: string
      context?: string
      citations?: { enabled?: boolean }
      cache_control?: AnthropicCacheControl
    }
  | { type: 'tool_use'; id: string; name: string; input: object; cache_control?: AnthropicCacheControl }
  | {
      type: 'tool_result'
      tool_use_id: string
      content: string
      is_error?: true
      cache_control?: AnthropicCacheControl
    }

export interface AnthropicTool {
  name: string
  description?: string
  input_schema: ObjectSchema
  strict?: boolean
  cache_control?: AnthropicCacheControl
}
