import type { JsonSchema } from '../json-schema.js'

/** Fields of a request to Gemini's `generateContent`. In its SDK, all but `contents` go into `config`. */
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
