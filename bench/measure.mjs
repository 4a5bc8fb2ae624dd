// Measures on a shared machine: the cases take turns in rounds, so that a slow moment affects all of them, and the result is
// the median of the rounds.

/**
 * @param {{ row: string, column: string, run: () => number | Promise<number> }[]} cases `run` returns microseconds.
 * @returns {Promise<{ row: string, column: string, median: number, min: number, max: number }[]>}
 */
export async function interleaved(cases, rounds = 15) {
  const samples = cases.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { run }] of cases.entries()) {
      const microseconds = await run()
      // The first round warms up.
      if (round > 0) samples[index].push(microseconds)
    }
  }
  return cases.map(({ row, column }, index) => {
    const sorted = samples[index].sort((one, other) => one - other)
    return { row, column, median: sorted[sorted.length >> 1], min: sorted[0], max: sorted.at(-1) }
  })
}

/** Microseconds that one of `times` calls takes. */
export function perCall(times, call) {
  const start = process.hrtime.bigint()
  for (let index = 0; index < times; index++) call()
  return Number(process.hrtime.bigint() - start) / 1000 / times
}

/** Microseconds that one of `times` calls takes after a first call, which is not measured. */
export function perRepeatedCall(times, call) {
  call()
  return perCall(times, call)
}

/** Microseconds that an asynchronous call takes. */
export async function once(call) {
  const start = process.hrtime.bigint()
  await call()
  return Number(process.hrtime.bigint() - start) / 1000
}
