// The lock of a directory: a file in it that names its holder.
//
// - The file appears with its complete content, as a second link to a temporary file, so that nobody reads half of it.
// - Each step on a lock file is synchronous and short, so that none is in progress in the thread pool when a synchronous lock
//   takes over the one that this thread holds. Only the waiting differs between the two.
// - The lock of a thread that has ended is abandoned; that of a living one on this host never is. The state of holders
//   elsewhere (on another host, in another container) is unknown, but they touch their lock at intervals. It is abandoned if
//   it was not touched for a while, by the clock of the file system or during a watch.
// - Only one process may remove an abandoned lock, or a second one would remove the lock that the first has created since.
//   Before a process removes a lock, it creates a file named after the token of the lock, and checks again. If that process
//   is killed in turn, its file is a lock like any other, and the next process creates a file named after that one.
import {
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { StorageLease } from '../lease.js'
import { lockLostError } from '../lease.js'
import { lockTimeoutError } from '../lock-timeout.js'
import type { AbortSignalLike } from '../signal.js'
import { unref } from '../timers.js'
import { makeDirectorySync } from './directories.js'
import { fileError, hasCode, isAbsent, isBusy } from './failures.js'
import { closingSync, NONBLOCKING, otherKind } from './files.js'
import { currentHolder, type Holder, holderFromText, holderToText, type Life, lifeOf } from './holder.js'
import { removeLeftovers, temporaryBeside } from './temporary.js'
import { clearInterval, monotonicTime, setInterval, setTimeout, sleep, sleepSync } from './timers.js'

const NAME = '.lock'
const REMOVER = /^\.lock\.([0-9a-z-]+)\.takeover$/
const TOKEN = /^[0-9a-f-]{36}-[0-9a-z]+$/

/** The token of a file without a readable one, such as a truncated file. */
const UNREADABLE = 'unreadable'

/** The lock of a holder elsewhere is abandoned if it was not touched for this time, in milliseconds. */
const ABANDONED = 20_000
/** How often a holder touches its lock. */
const TOUCH = 5_000
/** How often the clock of the file system is read, which takes a file. */
const CLOCK = 1_000

/** The first pause between two attempts, in milliseconds; pauses grow to the longest. */
const FIRST_PAUSE = 2
const LONGEST_PAUSE = 50
/** How long a file may be busy, as on Windows while a scanner has it open. */
const BUSY = 1_300
/** The longest pause between two attempts to remove one's own lock. */
const LONGEST_RETRY = 1_000

/** Identifies this copy of the module in this thread, which alone knows which of its tokens are in use. */
const INSTANCE = crypto.randomUUID()
let issued = 0
/** The locks held by this copy, by token. */
const held = new Map<string, FileLease>()

/** The content of a lock file, and when it was last touched by the clock of the file system. */
interface LockRecord {
  readonly token: string
  readonly holder: Holder | null
  readonly host: string
  readonly touched: number
}

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
    const wasLeftover = clearDirectory(directory, lease.token)
    lease.release()
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
    const wasLeftover = clearDirectory(directory, lease.token)
    lease.release()
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
  const attempts = new Attempts(directory, timeout)
  for (;;) {
    if (signal?.aborted) throw signal.reason
    const lease = attempts.next(false)
    if (lease !== null) return lease
    await sleep(attempts.pause(), signal)
  }
}

function acquireSync(directory: string, timeout: number): FileLease {
  const attempts = new Attempts(directory, timeout)
  for (;;) {
    const lease = attempts.next(true)
    if (lease !== null) return lease
    sleepSync(attempts.pause())
  }
}

/** The attempts of one caller to acquire a lock. */
class Attempts {
  readonly #directory: string
  readonly #path: string
  readonly #timeout: number
  readonly #start = monotonicTime()
  #pause = FIRST_PAUSE
  /** The holder elsewhere that this caller watches. */
  #watched = { token: '', touched: 0, since: 0, clockAsked: -Infinity }

  constructor(directory: string, timeout: number) {
    this.#directory = directory
    this.#path = join(directory, NAME)
    this.#timeout = timeout
  }

  /** Returns the lock, or `null` if another holder has it; throws after the timeout. */
  next(isSync: boolean): FileLease | null {
    let record: LockRecord | null = null
    try {
      record = readRecord(this.#path)
      if (record !== null && isSync) {
        const overtaken = held.get(record.token)?.handOver()
        if (overtaken !== undefined) return overtaken
      }
      if (record !== null && this.#isAbandoned(record)) {
        removeAbandoned(this.#path, record)
        record = readRecord(this.#path)
      }
      if (record === null) {
        const token = createRecord(this.#path)
        if (token !== null) return new FileLease(this.#directory, token, isSync)
        record = readRecord(this.#path)
      }
    } catch (error) {
      this.#handle(error)
    }
    if (monotonicTime() - this.#start >= this.#timeout) {
      throw lockTimeoutError(this.#directory, describe(record, this.#path), this.#timeout)
    }
    return null
  }

  /** The next pause. It is random, so that waiting callers do not retry at the same time. */
  pause(): number {
    const pause = this.#pause
    this.#pause = Math.min(pause * 1.5, LONGEST_PAUSE)
    return pause * (0.5 + Math.random() / 2)
  }

  #handle(error: unknown): void {
    const waited = monotonicTime() - this.#start
    if (isBusy(error) && process.platform === 'win32' && waited < Math.min(BUSY, this.#timeout)) return
    if (!hasCode(error, 'ENOENT') || waited >= this.#timeout) throw error
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
  #isLost = false

  constructor(directory: string, token: string, isSync: boolean, suspended?: FileLease) {
    this.#directory = directory
    this.#path = join(directory, NAME)
    this.token = token
    this.#isSync = isSync
    this.#suspended = suspended
    held.set(token, this)
  }

  check(): void {
    if (this.#isLost || readRecord(this.#path)?.token !== this.token) {
      this.#isLost = true
      throw lockLostError(this.#directory)
    }
    // The files will no longer be those that it compared.
    this.#suspended?.lose()
    this.#suspended = undefined
  }

  lose(): void {
    this.#isLost = true
  }

  /** A lease of a synchronous caller on the same lock. If that caller writes, this lease is lost. */
  handOver(): FileLease {
    if (this.#isSync) throw lockTimeoutError(this.#directory, 'the synchronous call around this one', 0)
    return new FileLease(this.#directory, this.token, true, this)
  }

  /** Touches the lock by the clock of the file system: an explicit time would be that of this host. */
  touch(): void {
    if (this.#isLost) return
    try {
      const file = openSync(this.#path, constants.O_RDWR | NONBLOCKING | NOFOLLOW)
      closingSync(file, () => {
        const text = readFileSync(file, 'utf8')
        if (parsed(text).token === this.token) writeSync(file, text, 0, 'utf8')
      })
    } catch {
      // The next touch may succeed, and a takeover in the meantime is noticed.
    }
  }

  release(): void {
    if (this.#suspended !== undefined) {
      held.set(this.token, this.#suspended)
      return
    }
    if (this.#isLost) return
    this.#isLost = true
    held.delete(this.token)
    removeOwn(this.#path, this.token, FIRST_PAUSE)
  }
}

/** Retries in the background: the work is done, but nobody else may remove the lock while the process lives. */
function removeOwn(path: string, token: string, pause: number): void {
  try {
    if (readRecord(path)?.token === token) unlinkSync(path)
  } catch (error) {
    if (isAbsent(error)) return
    unref(setTimeout(() => removeOwn(path, token, Math.min(pause * 2, LONGEST_RETRY)), pause))
  }
}

/** Removes an abandoned lock, unless another process is about to. */
function removeAbandoned(path: string, abandoned: LockRecord): void {
  for (let gone = abandoned; ; ) {
    const remover = `${path}.${gone.token}.takeover`
    if (createRecord(remover) !== null) {
      try {
        if (readRecord(path)?.token === abandoned.token) unlinkSync(path)
      } finally {
        unlinkQuietly(remover)
      }
      return
    }
    const other = readRecord(remover)
    if (other === null || !isOver(other, path)) return
    gone = other
  }
}

function isOver(record: LockRecord, path: string): boolean {
  const life = lifeOfRecord(record)
  return life === 'ended' || (life === 'unknown' && timeOfFileSystem(path) - record.touched > ABANDONED)
}

/**
 * Removes leftovers of killed processes from the directory: temporary files, and files of removers of earlier locks.
 *
 * @returns Whether the directory held nothing else: then it is itself the leftover of a killed writer.
 */
function clearDirectory(directory: string, token: string): boolean {
  try {
    const path = join(directory, NAME)
    const all = readdirSync(directory)
    const kept = removeLeftovers(directory, all, () => statSync(path).mtimeMs).filter((name) => {
      const removed = REMOVER.exec(name)?.[1]
      if (removed === undefined || removed === token) return name !== NAME
      const remover = readRecord(join(directory, name))
      if (remover === null || !isOver(remover, path)) return true
      unlinkQuietly(join(directory, name))
      return false
    })
    return kept.length === 0 && all.length > 1
  } catch {
    // Leftovers do no harm; the next holder tries again.
    return false
  }
}

/** Creates a lock file. Returns its token, or `null` if there is one already. */
function createRecord(path: string): string | null {
  const token = `${INSTANCE}-${(issued++).toString(36)}`
  const record = { pid: process.pid, host: hostname(), holder: holderToText(currentHolder()), token }
  const temporary = temporaryBeside(path)
  try {
    writeFileSync(temporary, JSON.stringify(record), { flag: 'wx' })
    linkNew(temporary, path)
    return token
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null
    throw error
  } finally {
    unlinkQuietly(temporary)
  }
}

function linkNew(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'UNKNOWN')) throw error
    // A file system without links. If the process is killed during the copy, the lock counts as abandoned after a while.
    copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

/** The time by the clock of the file system, which may be that of a server: the time of a file written now. */
function timeOfFileSystem(path: string): number {
  const temporary = temporaryBeside(path)
  try {
    writeFileSync(temporary, ' ', { flag: 'wx' })
    return statSync(temporary).mtimeMs
  } finally {
    unlinkQuietly(temporary)
  }
}

const NOFOLLOW = constants.O_NOFOLLOW ?? 0

/** Returns `null` if there is no lock. Throws if something else has its name. */
function readRecord(path: string): LockRecord | null {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | NONBLOCKING | NOFOLLOW)
  } catch (error) {
    if (isAbsent(error)) return null
    if (hasCode(error, 'ELOOP', 'EMLINK')) throw notALock(path, 'a symbolic link')
    if (hasCode(error, 'ENXIO', 'EOPNOTSUPP')) throw notALock(path, 'a socket or a device')
    throw error
  }
  return closingSync(file, () => {
    const stats = fstatSync(file)
    const kind = otherKind(stats)
    if (kind !== null) throw notALock(path, kind)
    return { ...parsed(readFileSync(file, 'utf8')), touched: stats.mtimeMs }
  })
}

function notALock(path: string, kind: string): Error {
  return fileError('ELOCKED', path, `${path} is ${kind}, not a lock file: remove it, then try again`)
}

function parsed(text: string): Omit<LockRecord, 'touched'> {
  try {
    const { holder, host, token } = JSON.parse(text) as Record<string, unknown>
    if (typeof holder === 'string' && typeof host === 'string' && typeof token === 'string' && TOKEN.test(token)) {
      return { token, host, holder: holderFromText(holder) }
    }
  } catch {
    // As below.
  }
  return { token: UNREADABLE, host: '', holder: null }
}

function lifeOfRecord({ token, holder }: LockRecord): Life {
  if (token.startsWith(`${INSTANCE}-`)) return held.has(token) ? 'alive' : 'ended'
  return holder === null ? 'unknown' : lifeOf(holder)
}

function describe(record: LockRecord | null, path: string): string {
  if (record === null) return 'another writer'
  const { holder, host } = record
  if (holder === null) return `an unknown writer (remove ${path} if nobody uses the session)`
  const current = currentHolder()
  if (holder.place !== current.place)
    return `process ${holder.pid} on ${host}, or in a container of it (remove ${path} if it has ended)`
  return holder.pid === current.pid
    ? `another thread or copy of this package in this process (${holder.pid})`
    : `process ${holder.pid} on ${host}`
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It does not exist, or the next holder removes it.
  }
}
