import * as bindings from '../../pkg/peteos_session_providers.js'
import type { EncodingName, ProviderName } from '../generated/lists.js'
import type { StoredMessage } from '../messages/message.js'
import { Context } from '../session/context.js'
import { type Counter, countingOptions, type MediaCost } from '../tokens/counting.js'
import { rust } from '../wasm/runtime.js'
import type { TrimOptions } from './trim-types.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** How tokens are counted. */
export interface Counting {
  readonly encoding: EncodingName
  readonly media: MediaCost | undefined
  readonly counter: ((text: string, message: never) => number) | undefined
  /** The same for the same way of counting. */
  readonly key: string
}

/** Numbers for the functions of callers. */
const numbers = new WeakMap<object, number>()
let lastNumber = 0

function nameOf(value: unknown): string {
  if (typeof value !== 'function') return String(value)
  let number = numbers.get(value)
  if (number === undefined) {
    number = ++lastNumber
    numbers.set(value, number)
  }
  return `f${number}`
}

export function readCounting({ encoding, media, counter }: Partial<TrimOptions<never>>): Counting {
  const name = encoding ?? 'cl100k_base'
  rust().encodingNumber(name)
  countingOptions(null, { media, counter })
  const used = { media: media ?? undefined, counter: counter ?? undefined }
  return { encoding: name, ...used, key: `${name} ${nameOf(used.media)} ${nameOf(used.counter)}` }
}

/** The tokens of stored messages, each made from the message of the caller at the same place. */
export function countsOf(dicts: readonly object[], originals: readonly unknown[], counting: Counting): Float64Array {
  const messages = dicts.map((dict, place) => ({ ...dict, id: String(place) }))
  const text = encoder.encode(JSON.stringify({ messages }))
  const context = Context.wrap(rust().ContextHandle.fromConversation(text, undefined))
  try {
    const { media, counter } = counting
    const count: Counter | undefined =
      counter && ((text: string, { id }: StoredMessage) => counter(text, originals[Number(id)] as never))
    return context.handle.tokenCounts(counting.encoding, countingOptions(context, { media, counter: count }))
  } finally {
    context.free()
  }
}

/** The fields of a request with the system prompt. */
const SYSTEM: Readonly<Record<ProviderName, (system: unknown) => object>> = {
  'openai-chat': (system) => ({ messages: [{ role: 'system', content: system }] }),
  'openai-responses': (system) => ({ instructions: system, input: [] }),
  anthropic: (system) => ({ system, messages: [] }),
  gemini: (system) => ({ systemInstruction: system, contents: [] }),
  'ai-sdk': (system) => ({ system, messages: [] }),
}

/** The tokens of the options `system` and `tools`. */
export function specialTokensOf(
  { system, tools }: Partial<TrimOptions<never>>,
  provider: ProviderName,
  counting: Counting | null,
): number {
  if (counting === null) return 0
  const dicts: object[] = []
  if (system !== undefined && system !== null) {
    dicts.push(specialOf(SYSTEM[provider](system), system, 'system', 'system_prompt', provider))
  }
  if (tools !== undefined && tools !== null) {
    const body = { ...SYSTEM[provider](null), messages: [], input: [], contents: [], tools }
    dicts.push(specialOf(body, tools, 'tool', 'tool_definitions', provider))
  }
  if (dicts.length === 0) return 0
  return countsOf(dicts, [system, tools], counting).reduce((total, tokens) => total + tokens, 0)
}

/** The special message of a request; the JSON of the option if it cannot be read. */
function specialOf(body: object, option: unknown, role: string, key: string, provider: ProviderName): object {
  const text = JSON.stringify(body)
  try {
    const read = JSON.parse(decoder.decode(bindings.fromMessages(encoder.encode(text), provider)))
    if (read[key]) return { role, content: read[key].content }
  } catch {
    // It is counted as its JSON.
  }
  return {
    role,
    content: [{ type: 'text', text: typeof option === 'string' ? option : (JSON.stringify(option) ?? '') }],
  }
}
