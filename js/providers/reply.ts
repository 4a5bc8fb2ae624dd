// Reads replies. Part of the code of the module of the providers.
import * as bindings from '../../pkg/peteos_session_providers.js'
import { InvalidArgumentError } from '../errors.js'
import type { ProviderName } from '../generated/lists.js'
import { toJsonText } from '../wasm/json-text.js'
import { call } from './thrown.js'

/** The fields that are read. Others may be getters that throw, or nothing that JSON can hold. */
const FIELDS: Readonly<Record<ProviderName, readonly string[]>> = {
  'openai-chat': ['error', 'id', 'model', 'choices', 'usage'],
  'openai-responses': ['error', 'id', 'model', 'status', 'incomplete_details', 'output', 'usage'],
  anthropic: ['error', 'id', 'model', 'role', 'content', 'stop_reason', 'usage'],
  gemini: ['error', 'responseId', 'modelVersion', 'promptFeedback', 'candidates', 'usageMetadata'],
  'ai-sdk': ['response', 'usage', 'totalUsage', 'finishReason'],
}
const RESPONSE_FIELDS = ['id', 'modelId', 'messages']

const encoder = new TextEncoder()

/**
 * The messages of a reply, as a JSON array.
 * @internal
 */
export function readReply(reply: unknown, provider: ProviderName, seed: string): Uint8Array {
  const fields = pick(reply, FIELDS[provider] ?? [], 'reply')
  if (provider === 'ai-sdk') fields.response = pick(fields.response, RESPONSE_FIELDS, 'reply.response')
  const text = encoder.encode(toJsonText(fields, 'reply'))
  return call(text, () => bindings.readReply(text, provider, seed))
}

/** The fields of an object that has them itself or by its class. */
function pick(value: unknown, names: readonly string[], argument: string): Record<string, unknown> {
  const refused = (message: string, cause?: unknown) =>
    new InvalidArgumentError(`${argument}: ${message}`, cause === undefined ? { argument } : { argument, cause })
  if (typeof value !== 'object' || value === null) {
    throw refused(`expected what the call of the provider returned, found ${value === null ? 'null' : typeof value}`)
  }
  const picked: Record<string, unknown> = {}
  let isPromise: boolean
  try {
    const fields = value as Record<string, unknown>
    // biome-ignore lint/complexity/useLiteralKeys: the types of the compiler want an index here
    isPromise = typeof fields['then'] === 'function'
    if (!isPromise) for (const name of names) picked[name] = fields[name]
  } catch (cause) {
    throw refused('could not be read', cause)
  }
  if (isPromise) throw refused('is a promise; await it first')
  return picked
}
