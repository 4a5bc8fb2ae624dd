// Temporary folders, their files, and child processes.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesUnder, folder } from './installed.mjs'

/** A new folder that is removed when the test `t` ends. */
export function tempDir(t) {
  const path = mkdtempSync(join(tmpdir(), 'peteos-session-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** The files below a folder with their texts, by relative path. */
export function textsUnder(path) {
  return Object.fromEntries(filesUnder(path).map((file) => [file.slice(path.length + 1), readFileSync(file, 'utf8')]))
}

/**
 * Runs a module in a Node process of its own, in the folder that the package is installed in; resolves to its output. A
 * process that hangs or fails is an error that shows its output.
 */
export async function runModule(source, { args = [], env = {}, extension = 'mjs', timeoutSeconds = 60 } = {}) {
  const file = join(folder, `.test-${process.pid}-${counter++}.${extension}`)
  writeFileSync(file, source)
  try {
    return await run(process.execPath, [...args, file], { env, timeoutSeconds })
  } finally {
    rmSync(file, { force: true })
  }
}

let counter = 0

/** Runs a program in the folder; resolves to its standard output, rejects with all of its output. */
export async function run(program, args, { cwd = folder, env = {}, timeoutSeconds = 60 } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutSeconds * 1000)
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (...end) => resolve(end))
  })
  clearTimeout(timer)
  if (code === 0) return stdout
  const end = signal === 'SIGKILL' ? `hung for ${timeoutSeconds} s` : `ended with ${signal ?? code}`
  throw new Error(`${[program, ...args].join(' ')} ${end}\n${stdout}${stderr}`)
}
