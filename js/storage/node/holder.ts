// Identifies the thread that holds a lock or writes a temporary file, and tells whether it still exists. Uses no file times.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'
import { hasCode, isAbsent } from './failures.js'

/** One thread of one process. */
export interface Holder {
  /** The scope of the process id: a PID namespace of one running kernel, or a host if there are no namespaces. */
  readonly place: string
  readonly pid: number
  /** The kernel's id of the thread, or Node's if `/proc` does not have it. */
  readonly thread: number
  /** The start of the thread in the kernel's ticks since boot; without `/proc` that of the process, in milliseconds. */
  readonly started: number
}

/** The state of a holder. It is unknown for holders elsewhere. */
export type Life = 'alive' | 'ended' | 'unknown'

/** Threads of one process compute slightly different start times of the process. */
const TOLERANCE = 1000

let self: Holder | undefined
let hasProc = false

/** The calling thread. */
export function currentHolder(): Holder {
  self ??= describeThread()
  return self
}

export function lifeOf(holder: Holder): Life {
  const current = currentHolder()
  if (holder.place !== current.place) return 'unknown'
  if (!exists(holder.pid)) return 'ended'
  return hasProc ? lifeByProc(holder) : lifeWithoutProc(holder, current)
}

const TEXT = /^[a-z0-9]+(\.[a-z0-9]+){3}$/

/** As part of a file name. It is short, because names of contexts are long. */
export function holderToText({ place, pid, thread, started }: Holder): string {
  return [place, ...[pid, thread, started].map((number) => number.toString(36))].join('.')
}

export function holderFromText(text: string): Holder | null {
  if (!TEXT.test(text)) return null
  const [place = '', ...numbers] = text.split('.')
  const [pid = NaN, thread = NaN, started = NaN] = numbers.map((number) => Number.parseInt(number, 36))
  return { place, pid, thread, started }
}

function describeThread(): Holder {
  try {
    const [pid, , thread] = readlinkSync('/proc/thread-self').split('/').map(Number)
    // The numbers differ if /proc shows the processes of another namespace.
    if (pid === process.pid && thread !== undefined) {
      const started = startOf('/proc/thread-self/stat')
      if (started !== null) {
        const place = kernelPlace()
        hasProc = true
        return { place, pid, thread, started }
      }
    }
  } catch {
    // Not Linux, or no /proc.
  }
  const started = Math.round(Number(process.hrtime.bigint() / 1_000_000n) - process.uptime() * 1000)
  // Without /proc, PID namespaces cannot be told apart on Linux: only this thread is known.
  const place = process.platform === 'linux' ? `r${Math.random().toString(36).slice(2, 12)}` : `h${hash(hostname())}`
  return { place, pid: process.pid, thread: threadId, started }
}

/** The boot id of the kernel and the PID namespace: host names are not unique, and containers share them. */
function kernelPlace(): string {
  const boot = Number.parseInt(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8), 16)
  const namespace = Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0])
  if (Number.isNaN(boot) || Number.isNaN(namespace)) throw new Error('/proc is incomplete')
  return boot.toString(36) + namespace.toString(36)
}

function lifeByProc({ pid, thread, started }: Holder): Life {
  try {
    const found = startOf(`/proc/${pid}/task/${thread}/stat`)
    return found === started ? 'alive' : 'ended'
  } catch (error) {
    // /proc may hide the processes of other users, which then look absent.
    return (isAbsent(error) || hasCode(error, 'ESRCH')) && canSee(pid) ? 'ended' : 'alive'
  }
}

/** Also fails for a process that has just ended; the next attempt will find that out. */
function canSee(pid: number): boolean {
  try {
    readFileSync(`/proc/${pid}/stat`)
    return true
  } catch {
    return false
  }
}

function lifeWithoutProc({ pid, thread, started }: Holder, current: Holder): Life {
  if (pid !== current.pid) return thread === 0 ? 'alive' : 'unknown'
  if (Math.abs(started - current.started) > TOLERANCE) return 'ended'
  return thread === current.thread || thread === 0 ? 'alive' : 'unknown'
}

/** The start of a thread; `null` for a zombie. */
function startOf(path: string): number | null {
  const text = readFileSync(path, 'latin1')
  // The second field is a name in parentheses, which may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = ''] = fields
  return state === 'Z' || state === 'X' ? null : Number(fields[19])
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

/** FNV-1a, of 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (value >>> 0).toString(36)
}
