import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from './failures.js'

/** When this process started, in milliseconds since 1970. */
const STARTED = Date.now() - process.uptime() * 1000

/** Clocks of file systems are coarse, and the start is known by the clock of another. */
const TOLERANCE = 1000

/**
 * Where the ids of processes mean the same as here: on this host and, on Linux, in this namespace of process ids, so
 * that two containers of one name do not take one another's processes for dead.
 */
export function placeOfProcesses(): string {
  place ??= `${hostname()} ${namespace()}`.trimEnd()
  return place
}

let place: string | undefined

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Whether the process of this place that made a file at `time`, in milliseconds since 1970, is no more. */
export function hasEnded(pid: number, time: number): boolean {
  // An earlier process may have had the id of this one: in a container all of them are 1.
  if (pid === process.pid) return time < STARTED - TOLERANCE
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}
