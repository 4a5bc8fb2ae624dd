import type { AiSdkRequest } from './formats/ai-sdk.js'
import type { AnthropicRequest } from './formats/anthropic.js'
import type { GeminiRequest } from './formats/gemini.js'
import type { OpenAiChatRequest } from './formats/openai-chat.js'
import type { OpenAiResponsesRequest } from './formats/openai-responses.js'

/** The result of `toMessages` for each provider. Each type is assignable to that of the provider's own SDK. */
export interface ProviderRequests {
  'openai-chat': OpenAiChatRequest
  'openai-responses': OpenAiResponsesRequest
  anthropic: AnthropicRequest
  gemini: GeminiRequest
  'ai-sdk': AiSdkRequest
}
