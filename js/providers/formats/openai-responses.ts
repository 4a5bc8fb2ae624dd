import type { JsonSchema } from '../json-schema.js'

/** Fields of a request to OpenAI's Responses API. */
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
