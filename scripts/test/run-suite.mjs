// Runs one suite: its output is shown as it comes, and counted.
import { spawn } from 'node:child_process'
import { root, SetupError, seconds } from '../setup/steps.mjs'

/** Resolves to { name, passed, failed, skipped, note }; a suite that ran nothing has failed. */
export async function runSuite({ name, title, start, count }) {
  console.log(`\n=== ${name}: ${title}`)
  const started = Date.now()
  const failure = (note) => ({ name, passed: 0, failed: 1, skipped: 0, note })
  try {
    const { output, succeeded } = await stream(await start())
    const counts = count(output, succeeded)
    // The program may fail with no failed test to show for it: it did not compile, or it crashed.
    if (!succeeded) return { name, ...counts, failed: Math.max(counts.failed, 1), note: 'failed' }
    if (counts.passed === 0) return { name, ...counts, failed: Math.max(counts.failed, 1), note: 'ran no test' }
    return { name, ...counts, note: seconds(started) }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    console.log(error.message)
    return failure('could not run')
  }
}

async function stream({ program, args, env = process.env }) {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
    process.stdout.write(text)
  })
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new SetupError(`${program} could not be started: ${error.message}`)))
    child.on('close', (code) => resolve({ output, succeeded: code === 0 }))
  })
}
