// Files that name a thread: the lock of a directory, the tickets of those who wait for it, and the marks of those who remove
// an abandoned one. Each appears with its complete content, so that nobody reads half of it.
import {
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { fileError, hasCode, isAbsent } from './failures.js'
import { closingSync, NONBLOCKING, otherKind } from './files.js'
import { currentHolder, type Holder, holderFromText, holderToText, type Life, lifeOf } from './holder.js'
import { temporaryBeside } from './temporary.js'

const TOKEN = /^[0-9a-f-]{36}-[0-9a-z]+$/

/** The token of a file without a readable one, such as a truncated file. */
const UNREADABLE = 'unreadable'

/** The record of a holder elsewhere is abandoned if it was not touched for this time, in milliseconds. */
export const ABANDONED = 10_000
/** How often a holder touches its record. */
export const TOUCH = 1_000

/** Identifies this copy of the module in this thread, which alone knows which of its tokens are in use. */
const INSTANCE = crypto.randomUUID()
let issued = 0

/** The tokens of this copy that hold a lock or wait for one. */
export const inUse = new Set<string>()

/** The content of a file, and when it was last touched by the clock of the file system. */
export interface LockRecord {
  readonly token: string
  readonly holder: Holder | null
  readonly host: string
  readonly touched: number
}

export function newToken(): string {
  return `${INSTANCE}-${(issued++).toString(36)}`
}

/** Creates a record. Returns whether there was none. */
export function createRecord(path: string, token: string): boolean {
  return withContent(path, token, (temporary) => {
    try {
      linkNew(temporary, path)
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    } finally {
      unlinkQuietly(temporary)
    }
  })
}

/** Creates a record with a name of its own. */
export function createUnique(path: string, token: string): void {
  withContent(path, token, (temporary) => renameSync(temporary, path))
}

function withContent<T>(path: string, token: string, place: (temporary: string) => T): T {
  const record = { pid: process.pid, host: hostname(), holder: holderToText(currentHolder()), token }
  const temporary = temporaryBeside(path)
  try {
    writeFileSync(temporary, JSON.stringify(record), { flag: 'wx' })
    return place(temporary)
  } catch (error) {
    unlinkQuietly(temporary)
    throw error
  }
}

/** Gives a file a second name, which must not exist. */
export function linkNew(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'UNKNOWN')) throw error
    // A file system without links. If the process is killed during the copy, the lock counts as abandoned after a while.
    copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

/** The time by the clock of the file system, which may be that of a server: the time of a file written now. */
export function timeOfFileSystem(path: string): number {
  const temporary = temporaryBeside(path)
  try {
    writeFileSync(temporary, ' ', { flag: 'wx' })
    return statSync(temporary).mtimeMs
  } finally {
    unlinkQuietly(temporary)
  }
}

const NOFOLLOW = constants.O_NOFOLLOW ?? 0

/** Returns `null` if there is no record. Throws if something else has its name. */
export function readRecord(path: string): LockRecord | null {
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
    const text = readFileSync(file)
    // A lock that was read in part must not count as that of another holder.
    if (text.length < stats.size)
      throw fileError('EIO', path, `read ${text.length} of the ${stats.size} bytes of ${path}`)
    return { ...parsed(text.toString()), touched: stats.mtimeMs }
  })
}

/**
 * Touches a record by the clock of the file system: an explicit time would be that of this host. Other failures than absence
 * are ignored, because the next touch may succeed.
 *
 * @returns Whether the record exists, as far as is known.
 */
export function touchRecord(path: string, token: string): boolean {
  try {
    const file = openSync(path, constants.O_RDWR | NONBLOCKING | NOFOLLOW)
    return closingSync(file, () => {
      const text = readFileSync(file, 'utf8')
      const exists = parsed(text).token === token
      if (exists) writeSync(file, text, 0, 'utf8')
      return exists
    })
  } catch (error) {
    return !isAbsent(error)
  }
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

export function lifeOfRecord({ token, holder }: LockRecord): Life {
  if (token.startsWith(`${INSTANCE}-`)) return inUse.has(token) ? 'alive' : 'ended'
  return holder === null ? 'unknown' : lifeOf(holder)
}

/**
 * Whether the thread of a record has ended, or was not heard of for a while.
 *
 * @param path A file beside which the clock of the file system is read.
 */
export function isOver(record: LockRecord, path: string, silence = ABANDONED): boolean {
  const life = lifeOfRecord(record)
  return life === 'ended' || (life === 'unknown' && timeOfFileSystem(path) - record.touched > silence)
}

export function describe(record: LockRecord | null, path: string): string {
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

export function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It does not exist, or the next holder removes it.
  }
}
