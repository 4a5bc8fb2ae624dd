// `npm test`: sets everything up, runs the suites (all, or those named as arguments) and counts what ran.
import { SetupError, whenRun } from './setup/steps.mjs'
import { runSuite } from './test/run-suite.mjs'
import { suites } from './test/suites.mjs'

function chooseSuites(names) {
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name))
  if (unknown.length > 0) {
    throw new SetupError(
      `No such suite: ${unknown.join(', ')}. There are ${suites.map(({ name }) => name).join(', ')}.`,
    )
  }
  return names.length === 0 ? suites : suites.filter(({ name }) => names.includes(name))
}

function report(results) {
  console.log('\nsuite          passed  failed  skipped')
  for (const { name, passed, failed, skipped, note } of results) {
    const columns = [
      [passed, 6],
      [failed, 8],
      [skipped, 9],
    ].map(([number, width]) => String(number).padStart(width))
    console.log(`${name.padEnd(15)}${columns.join('')}  ${note}`)
  }
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0
}

await whenRun(import.meta.url, async () => {
  const chosen = chooseSuites(process.argv.slice(2))
  for (const need of new Set(chosen.flatMap(({ needs }) => needs))) await need()
  const results = []
  for (const suite of chosen) results.push(await runSuite(suite))
  if (!report(results)) process.exitCode = 1
})
