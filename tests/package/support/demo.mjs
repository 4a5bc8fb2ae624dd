// Runs `npm run demo` without npm.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { tempDir } from './files.mjs'
import { root } from './installed.mjs'

/** The folder of the demo session. */
export const examples = join(root, 'examples', 'demo-session')

/** Runs the demo; its copies go to `temp`. Resolves to { code, stdout, stderr, temp }. */
export async function demo(t, args, { cwd = root, env = {} } = {}) {
  const temp = tempDir(t)
  const variables = { TMPDIR: temp, TEMP: temp, TMP: temp, COLUMNS: '110', ...env }
  const child = spawn(process.execPath, [join(root, 'scripts', 'demo.mjs'), ...args], {
    cwd,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text))
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, temp, ...output }
}

/** The lines of standard error that do not come from the set-up. */
export function complaints(stderr) {
  return stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('[set-up]'))
}
