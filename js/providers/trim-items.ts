import * as bindings from '../../pkg/peteos_session_providers.js'
import { InvalidArgumentError } from '../errors.js'
import type { ProviderName } from '../generated/lists.js'
import { call } from './thrown.js'
import { copyOf, isSame } from './trim-copies.js'
import { type Counting, countsOf } from './trim-counting.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A part of a stored message. */
interface Part {
  type: string
  call_id?: string
  /** Of what a provider sent for a tool that it runs: the id of its call, or of the call that it answers. */
  calls?: string
  answers?: string
  name?: string
  approval_status?: string
}

interface Dict {
  role: string
  content: Part[]
}

/** A call, a result, the same of a tool that the provider runs, or anything else. */
interface Step {
  readonly type: 'tool_use' | 'tool_result' | 'calls' | 'answers' | 'text'
  /** The id of the call. With the mark in front, it is the name of the tool of a call without an id. */
  readonly id: string
  readonly name: string | undefined
}

/** What is known about a message of the caller, for as long as it is the same. */
interface Known {
  /** A copy of the message that shares its strings; `undefined` if it is not plain data. */
  readonly copy: unknown
  readonly provider: ProviderName
  readonly role: string
  readonly steps: readonly Step[]
  /** By the way of counting. */
  readonly counts: Map<string, number>
}

/** A message of the caller in this list. */
export interface Item {
  readonly role: string
  /** With the ids that the calls have in this list. */
  readonly steps: readonly Step[]
  /** `null` if none are counted. */
  readonly tokens: number | null
}

/** Messages that stay together. */
export interface Group {
  /** The indices of the messages in the list of the caller. */
  readonly indices: number[]
  readonly role: string
  readonly steps: Step[]
  /** The index of the message with each call or result. */
  readonly callIds: Map<string, number>
}

const known = new WeakMap<object, Known>()
/** Before the name of a tool in place of an id. */
const MARK = '\u0001'

/** Reads the messages of a list. Only those that are new or were changed are converted and counted. */
export function itemsOf(list: readonly unknown[], provider: ProviderName, counting: Counting | null): Item[] {
  const entries = list.map((message) => {
    const entry = typeof message === 'object' && message !== null ? known.get(message) : undefined
    return entry?.provider === provider && isSame(message, entry.copy) ? entry : undefined
  })
  const dicts = new Map<number, Dict>()
  const convert = (indices: readonly number[]) => {
    const read = readItems(
      indices.map((index) => textOf(list[index], index)),
      provider,
    )
    for (const [place, index] of indices.entries()) dicts.set(index, read[place] as Dict)
  }
  const unknown = indicesWhere(entries, (entry) => entry === undefined)
  // Without messages, only the name of the provider is checked.
  if (unknown.length > 0 || list.length === 0) convert(unknown)
  const all = entries.map((entry, index) => {
    if (entry !== undefined) return entry
    const { role, content } = dicts.get(index) as Dict
    const learned = { copy: copyOf(list[index]), provider, role, steps: content.map(stepOf), counts: new Map() }
    if (typeof list[index] === 'object') known.set(list[index] as object, learned)
    return learned
  })
  const steps = resolved(all)
  if (counting === null) return all.map(({ role }, index) => ({ role, steps: steps[index] as Step[], tokens: null }))
  const matches = matchesOf(steps)
  const keys = steps.map((own) => `${counting.key} ${own.map(matches).join('')}`)
  const uncounted = indicesWhere(all, ({ counts }, index) => !counts.has(keys[index] as string))
  const unread = uncounted.filter((index) => !dicts.has(index))
  if (unread.length > 0) convert(unread)
  const stored = uncounted.map((index) => asStored(dicts.get(index) as Dict, steps[index] as Step[], matches))
  const counts =
    stored.length === 0
      ? []
      : countsOf(
          stored,
          uncounted.map((index) => list[index]),
          counting,
        )
  for (const [place, index] of uncounted.entries()) {
    all[index]?.counts.set(keys[index] as string, counts[place] as number)
  }
  return all.map(({ role, counts }, index) => {
    return { role, steps: steps[index] as Step[], tokens: counts.get(keys[index] as string) as number }
  })
}

function indicesWhere<T>(list: readonly T[], test: (item: T, index: number) => boolean): number[] {
  return list.flatMap((item, index) => (test(item, index) ? [index] : []))
}

/** The JSON of a message. What JSON cannot hold is written as well as it can be, because it is only counted. */
function textOf(message: unknown, index: number): string {
  const argument = `messages[${index}]`
  if ((typeof message !== 'object' || message === null) && typeof message !== 'string') {
    const found = message === null ? 'null' : typeof message
    throw new InvalidArgumentError(`${argument}: expected a message, found ${found}`, { argument })
  }
  try {
    return JSON.stringify(message, hasBinary(message) ? lenient : undefined)
  } catch {
    try {
      return JSON.stringify(message, lenient)
    } catch (cause) {
      throw new InvalidArgumentError(`${argument}: could not be read as JSON`, { argument, cause })
    }
  }
}

/** Whether a part has data that is not text, as those of the AI SDK may. */
function hasBinary(message: unknown): boolean {
  const content = (message as { content?: unknown }).content
  if (!Array.isArray(content)) return false
  return content.some((part) => isBinary(part?.data) || isBinary(part?.image))
}

function isBinary(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer
}

function lenient(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const own = this[key]
  if (typeof own === 'bigint') return String(own)
  return isBinary(own) ? base64(own) : value
}

function base64(data: ArrayBuffer | ArrayBufferView): string {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
  let text = ''
  for (let start = 0; start < bytes.length; start += 8192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8192))
  }
  return btoa(text)
}

function readItems(texts: readonly string[], provider: ProviderName): Dict[] {
  const text = encoder.encode(`[${texts.join(',')}]`)
  return JSON.parse(decoder.decode(call(text, () => bindings.readItems(text, provider))))
}

function stepOf({ type, call_id: id, calls, answers, name }: Part): Step {
  if (id !== undefined && (type === 'tool_use' || type === 'tool_result')) return { type, id, name }
  if (calls !== undefined) return { type: 'calls', id: calls, name: undefined }
  if (answers !== undefined) return { type: 'answers', id: answers, name: undefined }
  return { type: 'text', id: '', name: undefined }
}

/** The steps with an id for each call that has none: its response is the next one with the name of the tool. */
function resolved(all: readonly Known[]): Step[][] {
  const waiting = new Map<string, string[]>()
  let count = 0
  const idOf = ({ type, id }: Step) => {
    const queue = waiting.get(id) ?? []
    waiting.set(id, queue)
    const waitingId = type === 'tool_result' ? queue.shift() : undefined
    if (waitingId !== undefined) return waitingId
    const made = `call_${++count}`
    if (type === 'tool_use') queue.push(made)
    return made
  }
  return all.map(({ steps }) => steps.map((step) => (step.id.startsWith(MARK) ? { ...step, id: idOf(step) } : step)))
}

/** Whether a call has a result, and whether a result has the name that its call has: then it is not stored twice. */
function matchesOf(steps: readonly (readonly Step[])[]): (step: Step) => 0 | 1 {
  const names = new Map<string, string | undefined>()
  const results = new Set<string>()
  for (const { type, id, name } of steps.flat()) {
    if (type === 'tool_use') names.set(id, name)
    else if (type === 'tool_result') results.add(id)
  }
  return ({ type, id, name }) => {
    if (type === 'tool_use') return results.has(id) ? 1 : 0
    return type === 'tool_result' && name !== undefined && names.get(id) === name ? 1 : 0
  }
}

/** A message as `fromMessages` stores it in this list. */
function asStored({ role, content }: Dict, steps: readonly Step[], matches: (step: Step) => 0 | 1): Dict {
  const parts = content.map((part, place) => {
    const step = steps[place] as Step
    if (step.type !== 'tool_use' && step.type !== 'tool_result') return part
    const own = { ...part, call_id: step.id }
    if (matches(step) === 0) return own
    if (step.type === 'tool_use') return { ...own, approval_status: 'approved' }
    const { name: _, ...rest } = own
    return rest
  })
  return { role, content: parts }
}

/** The messages from `start` on. Items of Responses that are one reply stay together. */
export function groupsOf(items: readonly Item[], provider: ProviderName, start: number): Group[] {
  const groups: Group[] = []
  for (const [place, { role, steps }] of items.entries()) {
    if (place < start) continue
    let group = groups.at(-1)
    const joins = provider === 'openai-responses' && role === 'assistant' && group?.role === 'assistant'
    if (group === undefined || !joins) {
      group = { indices: [], role, steps: [], callIds: new Map() }
      groups.push(group)
    }
    group.indices.push(place)
    group.steps.push(...steps)
    for (const { type, id } of steps) if (type !== 'text') group.callIds.set(id, place)
  }
  return groups
}

/** The conversation with only what decides where a window may begin. The id of each message is the place of its group. */
export function skeletonOf(groups: readonly Group[], hasSpecial: boolean): Uint8Array {
  const rest = { creation_timestamp: '2000-01-01T00:00:00', _type: 'Message', _hook_ids: [] }
  const messages = groups.map(({ role, steps }, place) => {
    const content = steps.map(({ type, id }) => {
      if (type === 'tool_use') return { type, call_id: id, name: '', arguments: '' }
      if (type === 'tool_result') return { type, call_id: id, content: '' }
      return type === 'text' ? { type, text: '' } : { type: 'provider', provider: '', [type]: id }
    })
    return { role, content, id: String(place), ...rest }
  })
  const special = hasSpecial ? { role: 'system', content: [], ...rest, _type: 'SystemPromptMessage' } : undefined
  return encoder.encode(JSON.stringify({ system_prompt: special, messages }))
}
