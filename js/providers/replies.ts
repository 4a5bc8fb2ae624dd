import type { ProviderName } from '../generated/lists.js'
import type { JsonObject } from '../messages/json.js'

/** What a call of each provider's API returns, as far as it is read. The types of the providers' own SDKs are assignable. */
export interface ProviderReplies {
  /** A chat completion. Its first choice is appended. */
  'openai-chat': Known<'id' | 'model' | 'usage'> & { readonly choices: readonly { readonly message: object }[] }
  /** A response. */
  'openai-responses': Known<'id' | 'model' | 'status' | 'incomplete_details' | 'usage'> & {
    readonly output: readonly object[]
  }
  /** A message. */
  anthropic: Known<'id' | 'type' | 'model' | 'stop_reason' | 'usage'> & {
    readonly role: 'assistant'
    readonly content: readonly object[]
  }
  /** A response of `generateContent`. Its first candidate is appended. */
  gemini: Known<'responseId' | 'modelVersion' | 'promptFeedback' | 'usageMetadata'> & {
    readonly candidates?: readonly object[]
  }
  /** The result of `generateText`, or an object with the awaited fields of the result of `streamText`. */
  'ai-sdk': Known<'usage' | 'totalUsage' | 'finishReason'> & {
    readonly response: Known<'id' | 'modelId'> & { readonly messages: readonly object[] }
  }
}

/** Fields that are read if they are there. */
type Known<Name extends string> = { readonly [name in Name]?: unknown }

/** What `appendReply` stores in the `metadata` of the last message of a reply. What the provider does not say is absent. */
export interface ReplyMetadata {
  readonly provider: ProviderName
  /** The model that replied. */
  readonly model?: string
  /** The provider's id of the reply. */
  readonly response_id?: string
  /** Why the model stopped, in the provider's word: `end_turn`, `stop`, `completed`, `STOP`, … */
  readonly stop_reason?: string
  readonly usage?: ReplyUsage
}

/** The tokens that a call used. */
export interface ReplyUsage {
  /** All tokens of the input, those from and for a cache included. */
  readonly input_tokens?: number
  /** All tokens of the output, those of the reasoning included. */
  readonly output_tokens?: number
  /** The tokens of the input that came from a cache. */
  readonly cache_read_tokens?: number
  /** The tokens of the input that were written to a cache. */
  readonly cache_write_tokens?: number
  /** The tokens of the output that are reasoning. */
  readonly reasoning_tokens?: number
  /** The usage as the provider gave it. */
  readonly raw: JsonObject
}
