// The lock of a directory: a file in it that names its holder.
//
// - Each step on a lock file is synchronous and short, so that none is in progress in the thread pool when a synchronous lock
//   takes over the one that this thread holds. Only the waiting differs between the two.
// - The lock of a thread that has ended is abandoned; that of a living one on this host never is. The state of holders
//   elsewhere (on another host, in another container) is unknown, but they touch their lock at intervals. It is abandoned if
//   it was not touched for a while, by the clock of the file system or during a watch.
// - Threads that wait form a queue: see lock-queue.ts.
import { rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageLease } from '../lease.js'
import { lockLostError } from '../lease.js'
import { lockTimeoutError } from '../lock-timeout.js'
import type { AbortSignalLike } from '../signal.js'
import { unref } from '../timers.js'
import { makeDirectorySync } from './directories.js'
import { hasCode, isAbsent, isBusy, withCode } from './failures.js'
import { clearDirectory, removeAbandoned } from './lock-leftovers.js'
import { passOn, Ticket } from './lock-queue.js'
import {
  ABANDONED,
  createRecord,
  describe,
  inUse,
  type LockRecord,
  lifeOfRecord,
  newToken,
  readRecord,
  TOUCH,
  timeOfFileSystem,
  touchRecord,
} from './lock-record.js'
import { clearInterval, monotonicTime, setInterval, setTimeout, sleep, sleepSync } from './timers.js'

const NAME = '.lock'

/** How often the clock of the file system is read, which takes a file. */
const CLOCK = 1_000

/** The first pause between two attempts, in milliseconds. Pauses grow to the longest while one holder has the lock. */
const FIRST_PAUSE = 1
const LONGEST_PAUSE = 50
/** How long a file may be busy, as on Windows while a scanner has it open. */
const BUSY = 1_300
/** The longest pause between two attempts to remove one's own lock. */
const LONGEST_RETRY = 100

/** The locks held by this copy of the module, by token. */
const held = new Map<string, FileLease>()
/** Those of this copy that wait for a lock, by token. */
const waiting = new Map<string, Attempts>()

/** Runs `work` while this thread holds the lock of a directory, then removes leftovers from the directory. */
export async function withLockFile<T>(
  directory: string,
  timeout: number,
  work: (lease: StorageLease) => Promise<T>,
  signal?: AbortSignalLike,
): Promise<T> {
  const lease = await acquire(directory, timeout, signal)
  const touching = setInterval(() => lease.touch(), TOUCH)
  unref(touching)
  try {
    return await work(lease)
  } finally {
    clearInterval(touching)
    const { wasLeftover, tickets } = clearDirectory(join(directory, NAME), lease.token)
    lease.release(tickets)
    if (wasLeftover) removeEmpty(directory, directory)
  }
}

/**
 * A synchronous {@link withLockFile}. If an asynchronous holder in this thread has the lock, which cannot continue before this
 * returns, `work` runs without waiting; if it writes, that holder loses its lease.
 */
export function withLockFileSync<T>(directory: string, timeout: number, work: (lease: StorageLease) => T): T {
  const lease = acquireSync(directory, timeout)
  try {
    return work(lease)
  } finally {
    const { wasLeftover, tickets } = clearDirectory(join(directory, NAME), lease.token)
    lease.release(tickets)
    if (wasLeftover) removeEmpty(directory, directory)
  }
}

/** Removes directories that were created for a lock and are still empty, from `directory` up to `topmost`. */
export function removeEmpty(directory: string, topmost: string): void {
  try {
    for (let path = directory; path.length >= topmost.length; path = join(path, '..')) rmdirSync(path)
  } catch {
    // The directory is in use.
  }
}

async function acquire(directory: string, timeout: number, signal: AbortSignalLike | undefined): Promise<FileLease> {
  const attempts = new Attempts(directory, timeout, false)
  try {
    for (;;) {
      if (signal?.aborted) throw signal.reason
      const lease = attempts.next()
      if (lease !== null) return lease
      await sleep(attempts.pause(), signal)
    }
  } catch (error) {
    attempts.leave()?.release([])
    throw error
  }
}

function acquireSync(directory: string, timeout: number): FileLease {
  const attempts = new Attempts(directory, timeout, true)
  try {
    for (;;) {
      const lease = attempts.next()
      if (lease !== null) return lease
      sleepSync(attempts.pause())
    }
  } catch (error) {
    attempts.leave()?.release([])
    throw error
  }
}

/** The attempts of one caller to acquire a lock. */
class Attempts {
  readonly #directory: string
  readonly #path: string
  readonly #timeout: number
  readonly #isSync: boolean
  readonly #start = monotonicTime()
  #pause = FIRST_PAUSE
  #ticket: Ticket | null = null
  /** What a synchronous caller of this thread has made of the ticket, before this caller could notice that it has the lock. */
  #accepted: FileLease | null = null
  /** The token of the present holder. */
  #seen = ''
  /** The holder elsewhere that this caller watches. */
  #watched = { token: '', touched: 0, since: 0, clockAsked: -Infinity }

  constructor(directory: string, timeout: number, isSync: boolean) {
    this.#directory = directory
    this.#path = join(directory, NAME)
    this.#timeout = timeout
    this.#isSync = isSync
  }

  /** Returns the lock, or `null` if another holder has it; throws after the timeout. */
  next(): FileLease | null {
    let record: LockRecord | null = null
    try {
      record = readRecord(this.#path)
      const lease = this.#given(record) ?? this.#overtaken(record)
      if (lease !== null) return lease
      if (record !== null && this.#isAbandoned(record)) {
        removeAbandoned(this.#path, record)
        record = readRecord(this.#path)
        const lease = this.#given(record)
        if (lease !== null) return lease
      }
      if (record === null) {
        const lease = this.#create()
        if (lease !== null) return lease
        record = readRecord(this.#path)
      }
    } catch (error) {
      this.#handle(error)
    }
    if (monotonicTime() - this.#start >= this.#timeout) {
      const lease = this.leave()
      if (lease !== null) return lease
      throw lockTimeoutError(this.#directory, describe(record, this.#path), this.#timeout)
    }
    if (record !== null) this.#queue(record)
    return null
  }

  /** The next pause. It is random, so that waiting callers do not retry at the same time. */
  pause(): number {
    const pause = this.#pause
    this.#pause = Math.min(pause * 1.25, LONGEST_PAUSE)
    return pause * (0.5 + Math.random() / 2)
  }

  /** Leaves the queue. Returns the lock if it was given to this caller meanwhile. */
  leave(): FileLease | null {
    const ticket = this.#ticket
    if (ticket === null) return this.#given(null)
    try {
      if (ticket.leave()) {
        this.#forget(ticket)
        return null
      }
      const lease = this.#given(readRecord(this.#path))
      if (lease === null) this.#forget(ticket)
      return lease
    } catch {
      // A lock that is given to this ticket must not stay with a caller that has gone.
      unref(setTimeout(() => this.leave()?.release([]), LONGEST_RETRY))
      return null
    }
  }

  /** Takes the lock that was given to this caller, for a synchronous caller that cannot wait until this one notices. */
  accept(): FileLease | null {
    const lease = this.#given(readRecord(this.#path))
    this.#accepted = lease
    return lease
  }

  /** The lock, if it was given to this caller. */
  #given(record: LockRecord | null): FileLease | null {
    const lease = this.#accepted
    if (lease !== null) {
      this.#accepted = null
      if (!lease.isLost) return lease
    }
    const ticket = this.#ticket
    if (ticket === null || record?.token !== ticket.token) return null
    this.#ticket = null
    waiting.delete(ticket.token)
    return new FileLease(this.#directory, ticket.token, this.#isSync)
  }

  /** For a synchronous caller: the lock of an asynchronous one in this thread, which cannot continue before this one. */
  #overtaken(record: LockRecord | null): FileLease | null {
    if (record === null || !this.#isSync) return null
    const holder = held.get(record.token) ?? waiting.get(record.token)?.accept()
    return holder?.handOver() ?? null
  }

  #create(): FileLease | null {
    const ticket = this.#ticket
    if (ticket === null) {
      const token = newToken()
      inUse.add(token)
      try {
        if (createRecord(this.#path, token)) return new FileLease(this.#directory, token, this.#isSync)
      } catch (error) {
        inUse.delete(token)
        throw error
      }
      inUse.delete(token)
      return null
    }
    try {
      ticket.redeem(this.#path)
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return null
      // It was removed, or it is the lock now.
      if (!hasCode(error, 'ENOENT')) throw error
      const lease = this.#given(readRecord(this.#path))
      if (lease === null) this.#forget(ticket)
      return lease
    }
    return this.#given(readRecord(this.#path))
  }

  #queue({ token }: LockRecord): void {
    if (token !== this.#seen) {
      this.#seen = token
      this.#pause = FIRST_PAUSE
    }
    try {
      if (this.#ticket !== null && !this.#ticket.touch() && readRecord(this.#path)?.token !== this.#ticket.token) {
        this.#forget(this.#ticket)
      }
      if (this.#ticket !== null) return
      this.#ticket = new Ticket(this.#path)
      waiting.set(this.#ticket.token, this)
    } catch {
      // Without a ticket, this caller may have to wait longer.
    }
  }

  #forget(ticket: Ticket): void {
    this.#ticket = null
    waiting.delete(ticket.token)
    inUse.delete(ticket.token)
  }

  #handle(error: unknown): void {
    const waited = monotonicTime() - this.#start
    if (isBusy(error) && process.platform === 'win32' && waited < Math.min(BUSY, this.#timeout)) return
    if (!hasCode(error, 'ENOENT') || waited >= this.#timeout) throw withCode(error)
    // Another holder removed the directory, which was empty.
    makeDirectorySync(this.#directory, false)
  }

  #isAbandoned(record: LockRecord): boolean {
    const life = lifeOfRecord(record)
    return life === 'unknown' ? this.#isForgotten(record) : life === 'ended'
  }

  #isForgotten({ token, touched }: LockRecord): boolean {
    const now = monotonicTime()
    if (this.#watched.token !== token || this.#watched.touched !== touched) {
      this.#watched = { token, touched, since: now, clockAsked: -Infinity }
    }
    // A lock dated in the future does not count as touched.
    if (now - this.#watched.since > ABANDONED) return true
    if (now - this.#watched.clockAsked < CLOCK) return false
    this.#watched.clockAsked = now
    return timeOfFileSystem(this.#path) - touched > ABANDONED
  }
}

/** A lock that this thread holds. */
class FileLease implements StorageLease {
  readonly token: string
  readonly #directory: string
  readonly #path: string
  readonly #isSync: boolean
  /** For a synchronous lease: the asynchronous one whose lock it uses, which cannot continue before this one is released. */
  #suspended: FileLease | undefined
  isLost = false

  constructor(directory: string, token: string, isSync: boolean, suspended?: FileLease) {
    this.#directory = directory
    this.#path = join(directory, NAME)
    this.token = token
    this.#isSync = isSync
    this.#suspended = suspended
    held.set(token, this)
  }

  check(): void {
    if (this.isLost || readRecord(this.#path)?.token !== this.token) {
      this.isLost = true
      throw lockLostError(this.#directory)
    }
    // The files will no longer be those that it compared.
    this.#suspended?.lose()
    this.#suspended = undefined
  }

  lose(): void {
    this.isLost = true
  }

  /** A lease of a synchronous caller on the same lock. If that caller writes, this lease is lost. */
  handOver(): FileLease {
    if (this.#isSync) throw lockTimeoutError(this.#directory, 'the synchronous call around this one', 0)
    return new FileLease(this.#directory, this.token, true, this)
  }

  touch(): void {
    if (!this.isLost) touchRecord(this.#path, this.token)
  }

  /** @param tickets Those of the threads that wait, in order. */
  release(tickets: readonly string[]): void {
    if (this.#suspended !== undefined) {
      held.set(this.token, this.#suspended)
      return
    }
    held.delete(this.token)
    inUse.delete(this.token)
    this.isLost = true
    // Also if it was lost: only a lock with this token is removed.
    removeOwn(this.#path, this.token, tickets, FIRST_PAUSE)
  }
}

/** Retries in the background: the work is done, but nobody else may remove the lock while the process lives. */
function removeOwn(path: string, token: string, tickets: readonly string[], pause: number): void {
  try {
    if (readRecord(path)?.token === token) passOn(path, tickets)
  } catch (error) {
    if (isAbsent(error)) return
    unref(setTimeout(() => removeOwn(path, token, tickets, Math.min(pause * 2, LONGEST_RETRY)), pause))
  }
}
