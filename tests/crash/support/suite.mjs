// The frame of the crash suites: how many tries, from which seed, and the rows of the final table.
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'

const { PETEOS_CRASH_TRIES, PETEOS_CRASH_REPORT, PETEOS_SEED } = process.env

/** The same seed makes the same choices. When a process is killed or overtaken also depends on the machine. */
export const seed = Number(PETEOS_SEED ?? 1)

/** A generator of random numbers (mulberry32). */
export class Random {
  #state

  constructor(number) {
    this.#state = number >>> 0
  }

  /** From 0 up to 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer below the limit. */
  below(limit) {
    return Math.floor(this.next() * limit)
  }

  pick(values) {
    return values[this.below(values.length)]
  }
}

/**
 * A test with a number of tries.
 *
 * @param name What is tried, a column of the table.
 * @param options.usual, options.large The number of tries in `npm test` and in `npm run test:crash`.
 * @param options.skip A reason why this machine cannot run it, or `null`.
 * @param run `(t, { tries, random, row })`: calls `row` with each result, { what, tries, acknowledged, lost, note? }. `lost` is
 * the list of what was lost or failed; the test fails if it is not empty.
 */
export function crashTest(name, { usual, large, skip = null }, run) {
  test(name, async (t) => {
    if (skip !== null) {
      report({ name, skipped: skip })
      return t.skip(skip)
    }
    const tries = triesOf(usual, large)
    const failures = []
    const row = ({ lost, ...rest }) => {
      report({ name, ...rest, lost: lost.length })
      t.diagnostic(JSON.stringify({ ...rest, lost: lost.length }))
      failures.push(...lost.map((each) => `${rest.what}: ${each}`))
    }
    await run(t, { tries, random: new Random(seed), row })
    const shown = failures.slice(0, 10).join('\n')
    const repeat = `PETEOS_SEED=${seed} PETEOS_CRASH_TRIES=${tries} repeats the choices.`
    assert.equal(failures.length, 0, `${failures.length} losses or failures, such as\n${shown}\n${repeat}`)
  })
}

function triesOf(usual, large) {
  if (PETEOS_CRASH_TRIES === undefined) return usual
  return PETEOS_CRASH_TRIES === 'large' ? large : Number(PETEOS_CRASH_TRIES)
}

function report(row) {
  if (PETEOS_CRASH_REPORT !== undefined) appendFileSync(PETEOS_CRASH_REPORT, `${JSON.stringify(row)}\n`)
}
