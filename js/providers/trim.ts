// Trims arrays of messages. Part of the code of the module of the providers.
import { InvalidArgumentError, WindowTooSmallError } from '../errors.js'
import type { Boundary, EncodingName, ProviderName } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import { rust } from '../wasm/runtime.js'
import { sequenceWindowOptions } from '../windows/options.js'
import { reportOf, type WindowReport } from '../windows/report.js'
import { type Counting, readCounting, specialTokensOf } from './trim-counting.js'
import { type Group, groupsOf, itemsOf, skeletonOf } from './trim-items.js'
import type { Trimmed, TrimOptions, TrimReport } from './trim-types.js'

const OPTIONS = [
  ...(['maxTokens', 'maxMessages', 'boundary', 'hysteresis', 'pin', 'system', 'tools'] as const),
  ...(['encoding', 'reserve', 'media', 'counter'] as const),
] as const
/** Options that make sense only where tokens are counted. */
const TOKEN_OPTIONS = ['encoding', 'reserve', 'media', 'counter'] as const

function wrong(argument: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument}: ${message}`, { argument })
}

/** As `trimMessages`. */
export function trim<M>(given: readonly M[], provider: ProviderName, givenOptions: TrimOptions<M>): Trimmed<M> {
  const options = readOptions(givenOptions, OPTIONS, 'trimMessages')
  const limit = limitOf(options)
  const counting = options.maxTokens == null ? null : readCounting(options)
  if (!Array.isArray(given)) throw wrong('messages', 'expected an array of messages')
  const list = [...given] as M[]
  const pin = pinnedIds(options.pin, list.length)
  const items = itemsOf(list, provider, counting)
  const front = items.findIndex(({ role }) => role !== 'system')
  const frontCount = front < 0 ? items.length : front
  const tokens = counting && items.map((item) => item.tokens as number)
  const groups = groupsOf(items, provider, frontCount)
  const specialTokens = tokens && sum(tokens.slice(0, frontCount)) + specialTokensOf(options, provider, counting)
  const { boundary = 'turn', hysteresis } = options
  const pins = pin.filter((index) => index >= frontCount).map((index) => groupOf(groups, index))
  const windowOptions = { boundary, ...(hysteresis == null ? {} : { hysteresis }), pin: pins }
  const wireOptions = sequenceWindowOptions(windowOptions) as Record<string, unknown>
  const costs = groups.map(({ indices }) =>
    tokens ? sum(indices.map((index) => tokens[index] as number)) : indices.length,
  )
  const handle = rust().ContextHandle.fromConversation(skeletonOf(groups, specialTokens !== null), undefined)
  let plan: WindowReport
  try {
    wireOptions.counts = Float64Array.from(specialTokens === null ? costs : [specialTokens, ...costs])
    if (tokens) wireOptions.reserve = options.reserve
    plan = reportOf(handle.planTokenWindow(limit, undefined, wireOptions))
  } catch (error) {
    throw tokens || !(error instanceof WindowTooSmallError) ? error : tooFewMessages(error)
  } finally {
    handle.free()
  }
  const report = reportFor(plan, groups, frontCount, tokens, specialTokens, counting)
  const at = (index: number) => list[index] as M
  return { messages: report.kept.map(at), dropped: report.dropped.map(at), report }
}

function limitOf({ maxTokens, maxMessages, ...options }: Partial<TrimOptions<never>>): number {
  if ((maxTokens == null) === (maxMessages == null)) {
    throw wrong('options', 'expected exactly one of maxTokens and maxMessages')
  }
  const name = maxTokens == null ? 'options.maxMessages' : 'options.maxTokens'
  const limit = maxTokens ?? maxMessages
  if (!Number.isSafeInteger(limit) || (limit as number) < 0) throw wrong(name, 'expected a non-negative integer')
  const useless = maxTokens == null ? TOKEN_OPTIONS.find((option) => options[option] != null) : undefined
  if (useless !== undefined) throw wrong(`options.${useless}`, 'is an option of maxTokens only')
  return limit as number
}

function pinnedIds(pin: unknown, length: number): number[] {
  if (pin === undefined || pin === null) return []
  if (!Array.isArray(pin)) throw wrong('options.pin', 'expected an array of indices')
  for (const [place, index] of pin.entries()) {
    if (Number.isInteger(index) && index >= 0 && index < length) continue
    throw wrong(`options.pin[${place}]`, `expected the index of a message, from 0 to ${length - 1}`)
  }
  return pin as number[]
}

function groupOf(groups: readonly Group[], index: number): string {
  return String(groups.findIndex(({ indices }) => indices.includes(index)))
}

/** The error of a window of messages: it was decided like one of tokens. */
function tooFewMessages({ limit, needed }: WindowTooSmallError): WindowTooSmallError {
  const message = `${limit} messages are too few; ${needed} are needed to keep what must stay together`
  return new WindowTooSmallError(message, { limit, needed, specialTokens: null, mediaTokens: 0 })
}

function reportFor(
  plan: WindowReport,
  groups: readonly Group[],
  frontCount: number,
  tokens: readonly number[] | null,
  specialTokens: number | null,
  counting: Counting | null,
): TrimReport {
  const special = { kept: true, reason: 'special' } as const
  const messages: TrimReport['messages'][number][] = Array.from({ length: frontCount }, () => special)
  for (const { id, kept, reason } of plan.messages) {
    if (reason === 'special') continue
    for (const index of (groups[Number(id)] as Group).indices) messages[index] = { kept, reason }
  }
  const kept: number[] = []
  const dropped: number[] = []
  messages.forEach((message, index) => (message.kept ? kept : dropped).push(index))
  const indexOf = (id: string, callId: string) => (groups[Number(id)] as Group).callIds.get(callId) as number
  const rest = tokens && sum(tokens.slice(frontCount))
  const gone = tokens && sum(dropped.map((index) => tokens[index] as number))
  const before = rest === null ? null : (specialTokens as number) + rest
  return {
    boundary: plan.boundary as Boundary,
    limit: plan.limit,
    reserve: plan.reserve,
    lowerMark: plan.lowerMark,
    encoding: counting === null || counting.counter !== undefined ? null : (counting.encoding as EncodingName),
    kept,
    dropped,
    messages,
    broken: plan.broken.map(({ id, callId, ...rest }) => ({ index: indexOf(id, callId), callId, ...rest })),
    pending: plan.pending.map(({ id, callId }) => ({ index: indexOf(id, callId), callId })),
    specialTokens,
    tokensBefore: before,
    tokensAfter: before === null ? null : before - (gone as number),
    tokens,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
