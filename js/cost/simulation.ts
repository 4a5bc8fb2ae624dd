import { withCallerStack } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import type { EncodingName, StepKind } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import type { Policy } from '../room/steps.js'
import { type Context, handleOf } from '../session/context.js'
import { deepFreeze, toJsonText } from '../wasm/json-text.js'

/** The price of a token by how a provider bills it, in any unit. Use the same for all. */
export interface Prices {
  /** A token of a request that the cache is not used for. */
  input: number
  /** A token that is read from the cache. By default `input`. */
  cacheRead?: number
  /** A token that is written to the cache. By default `input`. */
  cacheWrite?: number
  /** A token of a reply. */
  output: number
}

/** Options of {@link simulate} and {@link compare}. */
export interface SimulateOptions {
  /** The prices of tokens. */
  prices: Prices
  /** By default `cl100k_base`. */
  encoding?: EncodingName
  /** A text that is sent in front of each request, besides the messages of the context. By default none. */
  system?: string
}

/** One request of a simulation. */
export interface SimulatedRequest {
  /** The id of the message of the assistant that answered it. */
  readonly messageId: string
  /** The tokens of the request. */
  readonly tokens: number
  /** The tokens among them that are read from the cache. */
  readonly cachedTokens: number
  /** The tokens of the reply. */
  readonly outputTokens: number
  /** What the request and the reply cost. */
  readonly cost: number
  /** The steps of the policy that changed something before the request. */
  readonly steps: readonly StepKind[]
}

/** What a conversation would have cost under a policy. */
export interface Simulation {
  /** The number of requests: one for each message of the assistant. */
  readonly requests: number
  /** The tokens of all requests together. */
  readonly tokensSent: number
  /** The tokens of the largest request. */
  readonly peakTokens: number
  /** The number of requests that do not begin with the whole of the request before. */
  readonly cacheBreaks: number
  /** What all requests and replies cost, in the unit of the prices. */
  readonly cost: number
  /** The number of messages of the last request. */
  readonly keptMessages: number
  /** The tokens of the last request. */
  readonly keptTokens: number
  /** The requests in order. */
  readonly rows: readonly SimulatedRequest[]
}

/** A policy of a comparison, with what it costs. */
export interface ComparedPolicy extends Omit<Simulation, 'rows'> {
  /** The name of the policy. */
  readonly name: string
  /** The policy. */
  readonly policy: Policy
}

const SIMULATE_OPTIONS = ['prices', 'encoding', 'system'] as const

/**
 * Replays a conversation under a policy, and counts what a provider with a prompt cache would bill. Each message of the assistant
 * was one request: the messages before it, as the policy has left them, are fitted and sent. The longest beginning that equals
 * the request before costs `cacheRead` for each token, the rest `cacheWrite`, and the message itself `output`. The context does
 * not change.
 *
 * Providers differ: some cache only long beginnings, in blocks, up to breakpoints or for a few minutes. The simulation caches
 * every whole message, for ever.
 *
 * @example
 * ```ts
 * import { Context, Message, simulate } from 'peteos-session'
 *
 * const context = Context.create()
 * for (const text of ['one', 'two', 'three']) {
 *   context.append(Message.create('user', text))
 *   context.append(Message.create('assistant', text.toUpperCase()))
 * }
 * const prices = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 }
 * const { requests, cacheBreaks } = simulate(context, [{ type: 'sequence-window', count: 2 }], { prices })
 * console.log(requests, cacheBreaks) // 3 2
 * ```
 *
 * @param policy The steps; an empty list sends everything each time.
 * @throws {InvalidArgumentError} for a policy or an option that is not valid; `argument` is the path of the field.
 * @throws {WindowTooSmallError} if a window of the policy cannot keep its minimum.
 */
export const simulate = /* @__PURE__ */ withCallerStack(
  'simulate',
  (context: Context, policy: Policy, options: SimulateOptions): Simulation => {
    return deepFreeze(JSON.parse(simulatedText(context, policy, options)))
  },
)

/**
 * Simulates several policies on one conversation, as {@link simulate} does.
 *
 * @example
 * ```ts
 * import { compare, Context, Message } from 'peteos-session'
 *
 * const context = Context.create()
 * context.append(Message.create('user', 'Hi'))
 * context.append(Message.create('assistant', 'Hello'))
 * const policies = { everything: [], window: [{ type: 'token-window', maxTokens: 100, boundary: 'turn' }] } as const
 * const [cheapest] = compare(context, policies, { prices: { input: 3, output: 15 } })
 * console.log(cheapest?.name)
 * ```
 *
 * @param policies The policies by name, or a list, whose names are then `'1'`, `'2'`, …
 * @returns A row for each policy, the cheapest first.
 */
export const compare = /* @__PURE__ */ withCallerStack(
  'compare',
  (
    context: Context,
    policies: Readonly<Record<string, Policy>> | readonly Policy[],
    options: SimulateOptions,
  ): ComparedPolicy[] => {
    if (typeof policies !== 'object' || policies === null) {
      const message = 'policies: expected an object with a policy for each name, or an array of policies'
      throw new InvalidArgumentError(message, { argument: 'policies' })
    }
    const named: [string, Policy][] = Array.isArray(policies)
      ? policies.map((policy, index) => [String(index + 1), policy])
      : Object.entries(policies)
    const rows = named.map(([name, policy]) => {
      const { rows: _, ...sums } = JSON.parse(simulatedText(context, policy, options)) as Simulation
      return { name, policy, ...sums }
    })
    return rows.sort((one, other) => one.cost - other.cost)
  },
)

function simulatedText(context: Context, policy: Policy, options: SimulateOptions): string {
  const { prices, encoding, system = '' } = readOptions(options, SIMULATE_OPTIONS, 'simulate')
  if (typeof system !== 'string') {
    throw new InvalidArgumentError('options.system: expected a string', { argument: 'options.system' })
  }
  const policyText = toJsonText(policy, 'policy')
  const pricesText = toJsonText(prices ?? null, 'options')
  return handleOf(context, 'context').simulate(policyText, pricesText, system, encoding)
}
