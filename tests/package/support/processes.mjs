// Child processes that are killed, and their output until then.
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from './installed.mjs'

let counter = 0

/** A script in the folder that the package is installed in, for many processes; removed when the test `t` ends. */
export function script(t, source) {
  const file = join(folder, `.process-${process.pid}-${counter++}.mjs`)
  writeFileSync(file, source)
  t.after(() => rmSync(file, { force: true }))
  return file
}

/** Starts a script. `lines` grows; `first` resolves with the first line, `ended` with the exit status. */
export function start(file, ...args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  let told = () => undefined
  const first = new Promise((resolve) => {
    told = resolve
  })
  child.stdout.setEncoding('utf8').on('data', (data) => {
    output += data
    if (output.includes('\n')) told()
  })
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      told()
      resolve(signal ?? code)
    })
  })
  return {
    first,
    ended,
    pid: child.pid,
    kill: () => child.kill('SIGKILL'),
    /** The complete lines so far. */
    get lines() {
      return output.split('\n').slice(0, -1)
    },
  }
}
