// Property tests: a law that holds for many generated values. A value that breaks it is reduced to a smallest one.
import fc from 'fast-check'

/**
 * Checks `law` for `runs` values of an arbitrary of fast-check; the law throws, or rejects, where it does not hold.
 * The values are the same in each run. `PETEOS_RUNS=5000` tries more of them, `PETEOS_SEED=7` others; a failure says
 * which `PETEOS_SEED` and `PETEOS_PATH` repeat its smallest case.
 */
export async function forAll(runs, arbitrary, law) {
  const { PETEOS_RUNS, PETEOS_SEED, PETEOS_PATH } = process.env
  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => void (await law(value))),
    { numRuns: Number(PETEOS_RUNS ?? runs), seed: Number(PETEOS_SEED ?? 1), path: PETEOS_PATH ?? '' },
  )
  if (!details.failed) return
  const { seed, counterexamplePath, errorInstance } = details
  const repeat = `Repeat it with PETEOS_SEED=${seed} PETEOS_PATH=${counterexamplePath}.`
  throw new Error(`${repeat}\n${fc.defaultReportMessage(details)}`, { cause: errorInstance })
}

export { fc }

/** An arbitrary of `value`, or of nothing: `undefined` in one of `1 / probability` cases. */
export const sometimes = (probability, value) =>
  fc.oneof(
    { weight: Math.round(1000 * (1 - probability)), arbitrary: fc.constant(undefined) },
    { weight: Math.round(1000 * probability), arbitrary: value },
  )
