import { withCallerStack } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import type { Prices } from './simulation.js'

/** The figures of a report that decide what a cut costs: those of a window's report or a step's report. */
export interface CutReport {
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  readonly unchangedPrefixTokens: number | null
}

/** Options of {@link planCost}. */
export interface PlanCostOptions {
  /** By how many tokens the conversation grows from one request to the next. By default it is not known. */
  tokensPerRequest?: number
}

/** What one cut costs, and when it pays. */
export interface CutCost {
  /** The tokens after the first change: they are billed again, as written to the cache instead of read from it. */
  readonly tokensBilledAgain: number
  /** What the next request costs more than if nothing but the cut tokens changed. */
  readonly extraCost: number
  /** What each later request costs less. */
  readonly savedPerRequest: number
  /** After how many requests the cut has paid; `null` if it never does. */
  readonly requestsUntilItPays: number | null
  /**
   * How many tokens to let grow between two such cuts, so that cuts and growth together cost least; `null` without
   * `tokensPerRequest`, or if reading the cache costs nothing.
   */
  readonly cheapestBatch: number | null
}

/**
 * What a cut costs at a provider with a prompt cache. Everything after the first change is written to the cache again, and each
 * later request reads less.
 *
 * @example
 * ```ts
 * import { planCost } from 'peteos-session'
 *
 * const report = { tokensBefore: 60_000, tokensAfter: 30_000, unchangedPrefixTokens: 2_000 }
 * const prices = { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 }
 * console.log(planCost(report, prices).requestsUntilItPays) // 11
 * ```
 *
 * @param report The report of a token window or of a step; that of a sequence window has no counts.
 * @throws {InvalidArgumentError} if the report has no counts, or a price or an option is not valid.
 */
export const planCost = /* @__PURE__ */ withCallerStack(
  'planCost',
  (report: CutReport, prices: Prices, options: PlanCostOptions = {}): CutCost => {
    const before = counted(report, 'tokensBefore')
    const after = counted(report, 'tokensAfter')
    const prefix = counted(report, 'unchangedPrefixTokens')
    const input = price(prices?.input, 'prices.input')
    const read = price(prices.cacheRead ?? input, 'prices.cacheRead')
    const write = price(prices.cacheWrite ?? input, 'prices.cacheWrite')
    const growth = options.tokensPerRequest
    if (growth !== undefined) price(growth, 'options.tokensPerRequest')
    const tokensBilledAgain = after === before ? 0 : Math.max(0, after - prefix)
    const extraCost = tokensBilledAgain * Math.max(0, write - read)
    const savedPerRequest = (before - after) * read
    const pays = savedPerRequest > 0 ? Math.ceil(extraCost / savedPerRequest) : null
    return {
      tokensBilledAgain,
      extraCost,
      savedPerRequest,
      requestsUntilItPays: extraCost === 0 ? 0 : pays,
      // A batch of b tokens takes b / growth requests, each of which reads b / 2 of them on average.
      cheapestBatch: growth === undefined || read === 0 ? null : Math.round(Math.sqrt((2 * extraCost * growth) / read)),
    }
  },
)

function counted(report: CutReport, field: keyof CutReport): number {
  const argument = `report.${field}`
  const value: unknown = report?.[field]
  if (typeof value === 'number' && value >= 0) return value
  throw new InvalidArgumentError(
    `${argument}: expected a number of tokens; take the report of a token window or a step`,
    {
      argument,
    },
  )
}

function price(value: unknown, argument: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new InvalidArgumentError(`${argument}: expected a non-negative number`, { argument })
}
