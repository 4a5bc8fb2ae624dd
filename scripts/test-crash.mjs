// `npm run test:crash`: the crash suites with many tries, and a table of what was tried and what was lost.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { root, SetupError, whenRun } from './setup/steps.mjs'

const FOLDER = join('tests', 'crash')
const SUFFIX = '.test.mjs'
const USAGE = `npm run test:crash -- [suite]... [--tries N] [--seed N]

  --tries N  how often each test tries; by default as often as its file says for large runs
  --seed N   other random choices; by default 1
`

await whenRun(import.meta.url, async () => {
  const { suites, tries, seed, help } = readArguments()
  if (help) return void console.log(`${USAGE}\nThe suites: ${allSuites().join(', ')}.`)
  await build()
  const folder = mkdtempSync(join(tmpdir(), 'peteos-session-crash-'))
  try {
    const rows = suites.flatMap((suite) => runSuite(suite, tries, seed, join(folder, suite)))
    printTable(rows)
    if (rows.some(({ failed }) => failed)) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function allSuites() {
  const names = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith(SUFFIX))
  return names.map((name) => name.slice(0, -SUFFIX.length)).sort()
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tries: { type: 'string' }, seed: { type: 'string', default: '1' }, help: { type: 'boolean' } },
  })
  for (const name of ['tries', 'seed']) {
    const value = values[name]
    if (value !== undefined && !/^[1-9]\d{0,8}$/.test(value))
      throw new SetupError(`--${name}: expected a number from 1`)
  }
  const known = allSuites()
  const unknown = positionals.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new SetupError(`Unknown suite: ${unknown.join(', ')}. The suites are ${known.join(', ')}.`)
  }
  return { suites: positionals.length > 0 ? positionals : known, ...values }
}

/** Runs the tests of one file; returns their rows. A file that fails without a loss has a row of its own. */
function runSuite(suite, tries = 'large', seed, report) {
  const env = { ...process.env, PETEOS_CRASH_TRIES: tries, PETEOS_SEED: seed, PETEOS_CRASH_REPORT: report }
  const args = ['--test', '--test-reporter=spec', join(FOLDER, `${suite}${SUFFIX}`)]
  const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' })
  const rows = rowsIn(report).map((row) => ({ ...row, failed: row.lost > 0 }))
  if (status === 0 || rows.some(({ failed }) => failed)) return rows
  return [...rows, { name: suite, failed: true, note: 'the suite failed' }]
}

function rowsIn(report) {
  try {
    return readFileSync(report, 'utf8').trim().split('\n').map(JSON.parse)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

function printTable(rows) {
  const column = (value) => String(value ?? '').padStart(13)
  console.log(`\n${'test'.padEnd(52)}${['tries', 'acknowledged', 'lost'].map(column).join('')}`)
  for (const { name, tries, acknowledged, lost, note = '', skipped } of rows) {
    const numbers = skipped === undefined ? [tries, acknowledged, lost].map(column).join('') : `  skipped: ${skipped}`
    console.log(`${name.padEnd(52)}${numbers}  ${note}`.trimEnd())
  }
}
