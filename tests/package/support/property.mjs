// Property tests: a law that holds for many generated values. A counterexample is shrunk to a minimal one.
import { setImmediate as yieldToEngine } from 'node:timers/promises'
import fc from 'fast-check'

/** The time limit for shrinking, in seconds: a law that is slow to check would be shrunk for hours. */
const SECONDS_TO_REDUCE = 60

/** Yields after this many cases, so that the engine can run the finalizers that free the contexts of earlier cases. */
const CASES_BEFORE_YIELD = 20

const { PETEOS_RUNS, PETEOS_SEED, PETEOS_PATH = '' } = process.env

export const SEED = Number(PETEOS_SEED ?? 1)

/**
 * Checks `law` for `runs` values of a fast-check arbitrary. The law throws or rejects if it does not hold.
 * The values are the same in each run. `PETEOS_RUNS=5000` tries more of them, `PETEOS_SEED=7` others; a failure says
 * which `PETEOS_SEED` and `PETEOS_PATH` repeat its smallest case.
 */
export async function forAll(runs, arbitrary, law) {
  let end = Number.POSITIVE_INFINITY
  let cases = 0
  const property = fc.asyncProperty(arbitrary, async (value) => {
    if (Date.now() > end) return
    cases += 1
    if (cases % CASES_BEFORE_YIELD === 0) await yieldToEngine()
    try {
      await law(value)
    } catch (error) {
      end = Math.min(end, Date.now() + SECONDS_TO_REDUCE * 1000)
      throw error
    }
  })
  const details = await fc.check(property, {
    numRuns: Number(PETEOS_RUNS ?? runs),
    seed: SEED,
    path: PETEOS_PATH,
  })
  if (!details.failed) return
  const { seed, counterexamplePath, errorInstance } = details
  const repeat = `Repeat it with PETEOS_SEED=${seed} PETEOS_PATH=${counterexamplePath}.`
  throw new Error(`${errorInstance.message}\n${fc.defaultReportMessage(details)}\n${repeat}`, { cause: errorInstance })
}

/** Whether the seed and the number of runs are the defaults: only then is the number of cases of each kind known. */
export const isUsual = PETEOS_SEED === undefined && PETEOS_RUNS === undefined

export { fc }

/** `true` with this probability. */
export const chance = (probability) =>
  fc.oneof(
    { weight: Math.round(1000 * (1 - probability)), arbitrary: fc.constant(false) },
    { weight: Math.round(1000 * probability), arbitrary: fc.constant(true) },
  )

/** A value with this probability, or `undefined`. */
export const sometimes = (probability, arbitrary) =>
  fc.oneof(
    { weight: Math.round(1000 * (1 - probability)), arbitrary: fc.constant(undefined) },
    { weight: Math.round(1000 * probability), arbitrary },
  )

/** A list of `least` to `most` values. */
export const list = (least, most, arbitrary) => fc.array(arbitrary, { minLength: least, maxLength: most })

/** An object of these fields, without those that are `undefined`. */
export const fields = (model) =>
  fc.record(model).map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)))

/** One object with the fields of several; `undefined` adds none. */
export const merged = (...arbitraries) => fc.tuple(...arbitraries).map((parts) => Object.assign({}, ...parts))

/** An element of a list, selected by a number of any size. */
export const nth = (items, number) => items[number % items.length]
