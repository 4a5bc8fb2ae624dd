// The queue for the lock of a directory: whoever waits leaves a ticket there, a file with a number, and whoever releases the
// lock renames the first ticket to the lock file. So the lock goes from thread to thread without being free in between, and
// whoever comes later waits behind. If a thread ends while it waits, its ticket is skipped; if that happens after the lock was
// given to it, the lock is that of an ended holder.
import { readdirSync, renameSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isAbsent } from './failures.js'
import {
  createUnique,
  inUse,
  isOver,
  linkNew,
  newToken,
  readRecord,
  TOUCH,
  touchRecord,
  unlinkQuietly,
} from './lock-record.js'
import { monotonicTime } from './timers.js'

const TICKET = /^\.lock\.([0-9a-z]{6})\.[0-9a-f-]{36}-[0-9a-z]+\.ticket$/

/** A ticket of a thread elsewhere is skipped if it was not touched for this time, in milliseconds. */
const SILENCE = 3 * TOUCH

/** The place of a waiting thread in the queue. */
export class Ticket {
  readonly token = newToken()
  readonly #path: string
  #touched = monotonicTime()

  /** @param lock The path of the lock file. */
  constructor(lock: string) {
    const last = ticketsIn(readdirSync(dirname(lock))).at(-1) ?? ''
    const number = (Number.parseInt(TICKET.exec(last)?.[1] ?? '0', 36) + 1).toString(36).padStart(6, '0')
    this.#path = `${lock}.${number}.${this.token}.ticket`
    inUse.add(this.token)
    try {
      createUnique(this.#path, this.token)
    } catch (error) {
      inUse.delete(this.token)
      throw error
    }
  }

  /** Shows others at intervals that this thread still waits. Returns `false` if the ticket is gone. */
  touch(): boolean {
    if (monotonicTime() - this.#touched < TOUCH) return true
    this.#touched = monotonicTime()
    return touchRecord(this.#path, this.token)
  }

  /** Makes the ticket the lock file, which must not exist. */
  redeem(lock: string): void {
    linkNew(this.#path, lock)
    unlinkQuietly(this.#path)
  }

  /** Leaves the queue. Returns `false` if the ticket is gone: then it may have become the lock file. */
  leave(): boolean {
    try {
      unlinkSync(this.#path)
      inUse.delete(this.token)
      return true
    } catch (error) {
      if (isAbsent(error)) return false
      throw error
    }
  }
}

/** The names of tickets among those of a directory, the first in the queue first. */
function ticketsIn(names: readonly string[]): string[] {
  return names.filter((name) => TICKET.test(name)).sort()
}

/** The paths of the tickets of living threads, the first in the queue first. Tickets of others are removed. */
export function livingTickets(directory: string, names: readonly string[]): string[] {
  return ticketsIn(names)
    .map((name) => join(directory, name))
    .filter((path) => {
      const record = readRecord(path)
      // It has left the queue.
      if (record === null) return false
      if (!isOver(record, path, SILENCE)) return true
      unlinkQuietly(path)
      return false
    })
}

/** Gives a lock file to the first that waits, or removes it. */
export function passOn(lock: string, tickets: readonly string[]): void {
  for (const ticket of tickets) {
    try {
      renameSync(ticket, lock)
      return
    } catch {
      // It has left the queue.
    }
  }
  unlinkSync(lock)
}
