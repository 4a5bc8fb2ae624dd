// `npm test`: sets everything up, runs the suites (all, or those named as arguments), two at a time if there are two cores,
// and counts the tests.
import { availableParallelism } from 'node:os'
import { SetupError, whenRun } from './setup/steps.mjs'
import { runSuite } from './test/run-suite.mjs'
import { suites } from './test/suites.mjs'

const LANES = Math.min(2, availableParallelism())

function chooseSuites(names) {
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name))
  if (unknown.length > 0) {
    const known = suites.map(({ name }) => name).join(', ')
    throw new SetupError(`Unknown suite: ${unknown.join(', ')}. The suites are ${known}.`)
  }
  return names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name))
}

/** Resolves to the results in the order of the suites. If a set-up step fails, no further suite starts. */
async function runSuites(chosen) {
  const queue = chosen.map((suite, index) => [index, suite])
  const results = []
  async function lane() {
    while (queue.length > 0) {
      const [index, suite] = queue.shift()
      try {
        results[index] = await runSuite(suite)
      } catch (error) {
        queue.length = 0
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane))
  for (const { reason } of lanes) if (reason) throw reason
  return results
}

/** Prints the table of results, what was skipped and why, and the sums. Returns whether all passed. */
function report(results) {
  console.log('\nsuite          passed  failed  skipped')
  for (const { name, passed, failed, skipped, note } of results) {
    const columns = [String(passed).padStart(6), String(failed).padStart(8), String(skipped).padStart(9)]
    console.log(`${name.padEnd(15)}${columns.join('')}  ${note}`)
  }
  console.log('')
  for (const { notice } of results) if (notice) console.log(notice)
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  // CI reads this line.
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0
}

await whenRun(import.meta.url, async () => {
  const results = await runSuites(chooseSuites(process.argv.slice(2)))
  if (!report(results)) process.exitCode = 1
})
