// Announces, times and runs set-up steps. All output goes to standard error: standard output is reserved for results
// (`npm pack --json` runs the build in its prepack, and prints JSON).
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

const HEARTBEAT_MS = 15_000
const TAIL_LINES = 30

/** A tool is missing or failed. The message says what is wrong and what to do. */
export class SetupError extends Error {
  name = 'SetupError'
}

export function say(message) {
  process.stderr.write(`[set-up] ${message}\n`)
}

export function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`
}

/** Announces `title` and runs `work`, reporting at intervals that it is still running. */
export async function step(title, work) {
  const started = Date.now()
  say(`${title} ...`)
  const heartbeat = setInterval(() => say(`still ${title} (${seconds(started)})`), HEARTBEAT_MS)
  try {
    const result = await work()
    say(`${title}: done in ${seconds(started)}`)
    return result
  } finally {
    clearInterval(heartbeat)
  }
}

/**
 * Runs a program. Rejects with a SetupError if it is missing or fails. Its output is shown as it arrives; with `capture` it is
 * collected instead, and the promise resolves to standard output.
 */
export async function run(program, args, { cwd = root, env = process.env, capture = false, hint = '' } = {}) {
  const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', process.stderr, process.stderr]
  const child = spawn(program, args, { cwd, env, stdio })
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const end = await new Promise((resolve) => {
    child.on('error', (error) => resolve({ error }))
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  if (end.code === 0) return stdout
  throw new SetupError([describeEnd(program, args, end), tail(stderr || stdout), hint].filter(Boolean).join('\n'))
}

function describeEnd(program, args, { error, code, signal }) {
  if (error?.code === 'ENOENT') return `${program} was not found.`
  if (error) return `${program} could not be started: ${error.message}`
  return `\`${[program, ...args].join(' ')}\` ended with ${signal ?? `exit code ${code}`}.`
}

function tail(text) {
  return text.trim().split('\n').slice(-TAIL_LINES).join('\n')
}

/** Wraps a step that several others need, so that it runs once per process. */
export function once(work) {
  let result
  return () => (result ??= work())
}

/** Runs `work` if the module at `url` is the main program, not if it is imported. */
export async function whenRun(url, work) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return
  try {
    checkNode(process.versions.node)
    await work()
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error)
    process.exitCode = 1
  }
}

function checkNode(version) {
  if (Number.parseInt(version, 10) >= 20) return
  throw new SetupError(`Node 20 or newer is needed, and this is Node ${version}: get one from https://nodejs.org.`)
}
