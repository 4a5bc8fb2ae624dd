// Programs that the checks start. Each gets a process group of its own, so that it can be ended with all that it started.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const TIMEOUT = 300_000

const system = process.platform === 'win32' ? 'win' : process.platform
/** The package with a version of Node, as npm installs it. */
export const nodePackage = (version) => `npm:node-${system}-${process.arch}@${version}`
/** For tools that need a newer Node than the package does: an environment lists it, and `{ newer: true }` uses it. */
export const NEWER_NODE = { 'newer-node': nodePackage('24.9.0') }
/** The program of such a package, by the name that it is installed under. */
export const nodeProgram = (folder, name) =>
  join(folder, 'node_modules', name, ...(system === 'win' ? ['bin', 'node.exe'] : ['bin', 'node']))

/** Runs a program in a folder; resolves to its standard output. Its failure is an error with all that it printed. */
export async function exec(folder, program, args, { env = {}, cwd = folder, timeout = TIMEOUT } = {}) {
  const child = begin(program, args, cwd, env)
  const timer = setTimeout(() => end(child.process), timeout)
  const code = await child.closed
  clearTimeout(timer)
  if (code === 0) return child.stdout()
  throw new Error(
    `${[program, ...args].join(' ')} ended with ${code ?? 'a signal'}\n${child.stdout()}${child.stderr()}`,
  )
}

/** Runs Node with the given arguments. */
export const node = (folder, args, { newer = false, ...options } = {}) =>
  exec(folder, newer ? nodeProgram(folder, 'newer-node') : process.execPath, args, options)

/** Runs the command of a package that is installed in the folder. */
export const tool = (folder, name, args, options) => node(folder, [toolPath(folder, name), ...args], options)

/** The script of a command: "vite", or "@arethetypeswrong/cli attw" if it has another name than the package. */
export function toolPath(folder, name) {
  const [packageName, command = packageName] = name.split(' ')
  const at = join(folder, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
  return join(at, typeof bin === 'string' ? bin : bin[command])
}

/** Starts a server, waits until it answers, and ends it after `work`, which gets its address. */
export async function withServer(folder, args, { port, path = '/', env = {}, cwd = folder, timeout = 120_000 }, work) {
  const child = begin(process.execPath, args, cwd, env)
  const address = `http://127.0.0.1:${port}`
  let over = false
  child.closed.then(() => (over = true))
  try {
    const until = Date.now() + timeout
    while (!(await answers(address + path))) {
      if (over || Date.now() > until) throw new Error(`the server did not start\n${child.stdout()}${child.stderr()}`)
      await sleep(200)
    }
    return await work(address)
  } catch (error) {
    throw new Error(`${error.stack}\nThe server said:\n${child.stdout()}${child.stderr()}`)
  } finally {
    end(child.process)
    await child.closed
  }
}

async function answers(address) {
  return fetch(address).then(
    (response) => response.arrayBuffer().then(() => true),
    () => false,
  )
}

/** A port that is free now. */
export async function freePort() {
  const { createServer } = await import('node:net')
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

function begin(program, args, cwd, env) {
  const process_ = spawn(program, args, {
    cwd,
    env: { ...process.env, CI: 'true', NO_COLOR: '1', FORCE_COLOR: '0', NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    process_[name].setEncoding('utf8').on('data', (text) => (output[name] += text))
  const closed = new Promise((resolve, reject) => {
    process_.on('error', reject)
    process_.on('close', resolve)
  })
  return { process: process_, closed, stdout: () => output.stdout, stderr: () => output.stderr }
}

/** Ends a process that was started here, and its children. */
function end({ pid, exitCode, signalCode }) {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended by itself.
  }
}
