// What threads leave behind that end while they hold a lock, wait for one or write.
//
// Only one process may remove an abandoned lock, or a second one would remove the lock that the first has created since.
// Before a process removes a lock, it creates a file named after the token of the lock, and checks again. If that process is
// killed in turn, its file is a record like any other, and the next process creates a file named after that one.
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { livingTickets, passOn } from './lock-queue.js'
import { createRecord, isOver, type LockRecord, newToken, readRecord, unlinkQuietly } from './lock-record.js'
import { removeLeftovers } from './temporary.js'

const REMOVER = /^\.lock\.([0-9a-z-]+)\.takeover$/

/** Gives an abandoned lock to the first that waits, or removes it, unless another process is about to. */
export function removeAbandoned(lock: string, abandoned: LockRecord): void {
  for (let gone = abandoned; ; ) {
    const remover = `${lock}.${gone.token}.takeover`
    if (createRecord(remover, newToken())) {
      try {
        const directory = dirname(lock)
        const tickets = livingTickets(directory, readdirSync(directory))
        if (readRecord(lock)?.token === abandoned.token) passOn(lock, tickets)
      } finally {
        unlinkQuietly(remover)
      }
      return
    }
    const other = readRecord(remover)
    if (other === null || !isOver(other, lock)) return
    gone = other
  }
}

/**
 * Removes leftovers of ended threads from the directory of a lock: temporary files, tickets, and files of removers of earlier
 * locks.
 *
 * @param token That of the lock.
 * @returns The tickets of those who wait, and whether the directory held nothing but leftovers: then it is itself one.
 */
export function clearDirectory(lock: string, token: string): { tickets: string[]; wasLeftover: boolean } {
  const directory = dirname(lock)
  try {
    const all = readdirSync(directory)
    const tickets = livingTickets(directory, all)
    const kept = removeLeftovers(directory, all, () => statSync(lock).mtimeMs).filter((name) => {
      const removed = REMOVER.exec(name)?.[1]
      if (removed === undefined || removed === token) return name !== basename(lock)
      const remover = readRecord(join(directory, name))
      if (remover === null || !isOver(remover, lock)) return true
      unlinkQuietly(join(directory, name))
      return false
    })
    return { tickets, wasLeftover: kept.length === 0 && all.length > 1 }
  } catch {
    // Leftovers do no harm; the next holder tries again.
    return { tickets: [], wasLeftover: false }
  }
}
