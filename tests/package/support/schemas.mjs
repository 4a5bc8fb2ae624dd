// Validates requests against the official SDKs: JSON schemas of their TypeScript types, and the AI SDK's own validator.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonSchema, modelMessageSchema } from 'ai'
import { Ajv } from 'ajv'
import { createGenerator } from 'ts-json-schema-generator'
import { root } from './installed.mjs'

const TYPES = `
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import type { ResponseInputItem, Tool as ResponsesTool } from 'openai/resources/responses/responses'
import type { MessageParam, TextBlockParam, Tool } from '@anthropic-ai/sdk/resources/messages'
import type { Content, Tool as GeminiTool } from '@google/genai'
export interface OpenAiChat { messages: ChatCompletionMessageParam[]; tools?: ChatCompletionTool[] }
export interface OpenAiResponses { instructions?: string; input: ResponseInputItem[]; tools?: ResponsesTool[] }
export interface Anthropic { system?: string | TextBlockParam[]; messages: MessageParam[]; tools?: Tool[] }
export interface Gemini { systemInstruction?: Content; contents: Content[]; tools?: GeminiTool[] }
`
const NAMES = {
  'openai-chat': 'OpenAiChat',
  'openai-responses': 'OpenAiResponses',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
}

/** For each provider a function that returns the fault of a request, or `null`. */
export function validators() {
  // Beside node_modules, so that the types resolve.
  const folder = join(root, 'target', `provider-schemas-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: ['node'],
      skipLibCheck: true,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['requests.ts'] }))
    writeFileSync(join(folder, 'requests.ts'), TYPES)
    const generator = createGenerator({
      path: join(folder, 'requests.ts'),
      tsconfig: join(folder, 'tsconfig.json'),
      skipTypeCheck: true,
      // Keys that a type does not have are not allowed.
      additionalProperties: false,
    })
    const compiled = Object.entries(NAMES).map(([provider, name]) => {
      const validate = new Ajv({ strict: false, allErrors: false }).compile(generator.createSchema(name))
      return [provider, (request) => (validate(request) ? null : JSON.stringify(validate.errors))]
    })
    return { ...Object.fromEntries(compiled), 'ai-sdk': aiSdkFault }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function aiSdkFault({ system, messages, tools, ...others }) {
  if (Object.keys(others).length > 0) return `unknown fields: ${Object.keys(others)}`
  if (system !== undefined && typeof system !== 'string') return 'system is no string'
  for (const { inputSchema } of Object.values(tools ?? {})) {
    if (jsonSchema(inputSchema).jsonSchema.type !== 'object') return 'a schema is not that of an object'
  }
  for (const message of messages) {
    const { success, data, error } = modelMessageSchema.safeParse(message)
    if (!success) return error.message
    // The validator drops unknown keys.
    if (JSON.stringify(sorted(data)) !== JSON.stringify(sorted(message)))
      return `unknown keys in ${JSON.stringify(message)}`
  }
  return null
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  )
}
