// Property tests: many small cases from seeds that a failure names.

/**
 * Runs `check(random, seed)` for many seeds. `PETEOS_SEED=7` runs that seed alone, `PETEOS_RUNS=5000` more of them.
 */
export async function forSeeds(runs, check) {
  const only = process.env.PETEOS_SEED
  const last = only === undefined ? Number(process.env.PETEOS_RUNS ?? runs) : Number(only)
  for (let seed = only === undefined ? 1 : last; seed <= last; seed++) {
    try {
      await check(new Random(seed), seed)
    } catch (error) {
      throw new Error(`with PETEOS_SEED=${seed}: ${error.message}`, { cause: error })
    }
  }
}

/** The generator mulberry32: small, and the same everywhere. */
export class Random {
  #state

  constructor(seed) {
    this.#state = seed * 0x9e3779b9
  }

  /** A number from 0 up to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from `low` to `high`, both included. */
  integer(low, high) {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability) {
    return this.next() < probability
  }

  pick(items) {
    return items[this.integer(0, items.length - 1)]
  }
}
