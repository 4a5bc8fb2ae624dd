// The built package. `PETEOS_SESSION_DIST=/elsewhere/` tests another build, such as a copy of dist/ with a deliberate fault.
import { pathToFileURL } from 'node:url'

const elsewhere = process.env.PETEOS_SESSION_DIST
const dist = elsewhere ? pathToFileURL(`${elsewhere}/`) : new URL('../../../dist/', import.meta.url)

/** The URL that a separate program imports. */
export const entry = new URL('index.mjs', dist).href

export const {
  Context,
  ContentPart,
  MemoryStorage,
  Message,
  Session,
  SystemPromptMessage,
  ToolDefinitionsMessage,
  countTokens,
  fromMessages,
  toMessages,
} = await import(entry)

export const ENCODINGS = ['cl100k_base', 'o200k_base', 'o200k_harmony', 'p50k_base', 'p50k_edit', 'r50k_base', 'gpt2']
