// Compiles preload.c and starts processes with it.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../../../scripts/setup/programs.mjs'
import { root } from '../../package/support/installed.mjs'

const source = fileURLToPath(new URL('preload.c', import.meta.url))

/** Why system calls can be neither recorded nor made to fail here; `null` if they can. */
export function whyNoPreload() {
  if (process.platform !== 'linux') return `system calls are intercepted on Linux only, and this is ${process.platform}`
  if (findProgram(['cc']) === null) return 'there is no C compiler (cc) to compile tests/crash/support/preload.c'
  const built = compile()
  return existsSync(built) ? null : `tests/crash/support/preload.c does not compile here: ${built}`
}

let library

/** Returns the path of the library, or what the compiler said. */
function compile() {
  library ??= compileOnce()
  return library
}

function compileOnce() {
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16)
  const folder = join(root, 'target', 'crash')
  const target = join(folder, `preload-${hash}.so`)
  if (existsSync(target)) return target
  mkdirSync(folder, { recursive: true })
  const temporary = `${target}.${process.pid}`
  const args = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', temporary, source, '-ldl', '-lpthread']
  const { status, stderr } = spawnSync('cc', args, { encoding: 'utf8' })
  if (status !== 0) return stderr.trim()
  renameSync(temporary, target)
  return target
}

/** The environment of a process whose calls below a directory are intercepted, and recorded if there is a log. */
export function preloadEnvironment(directory, log) {
  return {
    ...process.env,
    LD_PRELOAD: compile(),
    CRASH_ROOT: directory,
    ...(log === undefined ? {} : { CRASH_LOG: log }),
    // With io_uring, no function of the C library would be called.
    UV_USE_IO_URING: '0',
  }
}

/** Runs a module with intercepted calls to its end; returns its standard output. */
export function runIntercepted(script, args, directory, log) {
  return execFileSync(process.execPath, [script, directory, ...args], {
    env: preloadEnvironment(directory, log),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  })
}
