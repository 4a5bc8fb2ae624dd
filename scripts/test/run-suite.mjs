// Runs one suite and counts its tests. Its output is printed when it ends, because another suite may run at the same time.
import { spawn } from 'node:child_process'
import { root, SetupError, seconds, step } from '../setup/steps.mjs'

/** Resolves to { name, passed, failed, skipped, note, notice? }. A suite that ran no test has failed. */
export async function runSuite({ name, title, needs, start, count, notice }) {
  for (const need of needs) await need()
  const command = await start()
  const started = Date.now()
  const { output, succeeded } = await step(`testing ${title}`, () => collect(command))
  console.log(`\n=== ${name}: ${title}\n${output}`)
  const counts = count(output, succeeded)
  const result = { name, ...counts, note: seconds(started), notice: await notice?.() }
  if (succeeded && counts.passed > 0) return result
  // The program may fail without a failed test: it did not compile, or it crashed.
  return { ...result, failed: Math.max(counts.failed, 1), note: succeeded ? 'ran no test' : 'failed' }
}

async function collect({ program, args, env = process.env }) {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new SetupError(`${program} could not be started: ${error.message}`)))
    child.on('close', (code) => resolve({ output, succeeded: code === 0 }))
  })
}
