import type { ObjectSchema } from '../json-schema.js'

/**
 * Arguments of the functions of the AI SDK. Its own tools are not plain JSON: create them from `tools` with `tool()` and
 * `jsonSchema()`.
 */
export interface AiSdkRequest {
  system?: string
  messages: AiSdkMessage[]
  tools?: Record<string, { description?: string; inputSchema: ObjectSchema }>
}

export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (AiSdkText | AiSdkImage | AiSdkFile)[] }
  | { role: 'assistant'; content: (AiSdkText | AiSdkFile | AiSdkReasoning | AiSdkToolCall)[] }
  | { role: 'tool'; content: AiSdkToolResult[] }

type AiSdkJson = null | string | number | boolean | { [key: string]: AiSdkJson | undefined } | AiSdkJson[]

/** Data that must be returned to a provider, by the name of the provider. */
export interface AiSdkProviderOptions {
  [provider: string]: { [key: string]: AiSdkJson | undefined }
}

export interface AiSdkText {
  type: 'text'
  text: string
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkReasoning {
  type: 'reasoning'
  text: string
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkImage {
  type: 'image'
  /** Base64 data, or a URL. */
  image: string
  mediaType: string
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkFile {
  type: 'file'
  /** Base64 data, or a URL. */
  data: string
  mediaType: string
  filename?: string
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkToolCall {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: object
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkToolResult {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
  providerOptions?: AiSdkProviderOptions
}
