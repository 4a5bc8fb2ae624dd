// What `toMessages` gives. Each type is assignable to that of the provider's own SDK;
// tests/package/providers/types.test.mjs has the compiler see to it.

/** The formats that conversations are handed over in. */
export type ProviderName = keyof ProviderRequests

/** What `toMessages` gives for each provider. */
export interface ProviderRequests {
  'openai-chat': OpenAiChatRequest
  'openai-responses': OpenAiResponsesRequest
  anthropic: AnthropicRequest
  gemini: GeminiRequest
  'ai-sdk': AiSdkRequest
}

/** A JSON schema. */
export interface JsonSchema {
  [keyword: string]: unknown
}

/** The JSON schema of an object. */
export interface ObjectSchema extends JsonSchema {
  type: 'object'
}

/** Fields of a request of OpenAI's Chat Completions. */
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

/** Fields of a request of OpenAI's Responses. */
export interface OpenAiResponsesRequest {
  instructions?: string
  input: OpenAiResponsesItem[]
  tools?: OpenAiResponsesTool[]
}

export type OpenAiResponsesItem =
  | { type: 'message'; role: 'system' | 'user'; content: string | OpenAiResponsesUserPart[] }
  | { type: 'message'; role: 'assistant'; content: string | never[]; phase?: 'commentary' | 'final_answer' }
  | {
      type: 'message'
      role: 'assistant'
      id: string
      status: 'completed'
      content: { type: 'output_text'; text: string; annotations: never[] }[]
      phase?: 'commentary' | 'final_answer'
    }
  | { type: 'function_call'; id?: string; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string }
  | { type: 'reasoning'; id: string; summary: { type: 'summary_text'; text: string }[]; encrypted_content?: string }

export type OpenAiResponsesUserPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; detail: 'auto' | 'low' | 'high' | 'original'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string }
  | { type: 'input_file'; file_url: string }

export interface OpenAiResponsesTool {
  type: 'function'
  name: string
  description?: string
  parameters: JsonSchema | null
  strict: boolean
}

/** Fields of a request of Anthropic's Messages. */
export interface AnthropicRequest {
  system?: string | AnthropicText[]
  messages: AnthropicMessage[]
  tools?: AnthropicTool[]
}

export interface AnthropicMessage {
  role: 'user' | 'assistant'
  content: AnthropicBlock[]
}

/** How long the provider keeps what comes before. */
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

/** Fields of a request of Gemini's `generateContent`; in its SDK all but `contents` go into `config`. */
export interface GeminiRequest {
  systemInstruction?: { parts: { text: string }[] }
  contents: GeminiContent[]
  tools?: { functionDeclarations: GeminiFunction[] }[]
}

export interface GeminiContent {
  role: 'user' | 'model'
  parts: GeminiPart[]
}

export type GeminiPart = { thoughtSignature?: string } & (
  | { text: string; thought?: true }
  | { inlineData: { mimeType: string; data: string } }
  | { fileData: { mimeType: string; fileUri: string } }
  | { functionCall: { id: string; name: string; args: Record<string, unknown> } }
  | { functionResponse: { id: string; name: string; response: { output: string } | { error: string } } }
)

export interface GeminiFunction {
  name: string
  description?: string
  parametersJsonSchema?: JsonSchema
}

/**
 * What the functions of the AI SDK take. Its tools are no plain JSON: make them of `tools` with `tool()` and
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

/** What a provider wants to see again, by the name of the provider. */
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
  /** Base64, or an address. */
  image: string
  mediaType: string
  providerOptions?: AiSdkProviderOptions
}

export interface AiSdkFile {
  type: 'file'
  /** Base64, or an address. */
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
