// The lock of a directory: a file in it that says who holds it.
//
// The file appears with its whole content, as a second link to a temporary one, so that nobody ever reads half of it. Of
// a holder that is no more the lock is stale. It may be removed by one process alone, or a second one would remove the
// lock that the first has made since: who wants to remove a lock first makes a file that is named after the token of that
// lock, and looks again. Should such a remover be killed in turn, its own file is a lock like any other, and who wants to
// go on makes the file that is named after the remover's token.
import { constants } from 'node:fs'
import { copyFile, link, open, readdir, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockTimeoutError } from '../lock-timeout.js'
import { hasCode, unlessAbsent, whileBusy } from './failures.js'
import { hasEnded, placeOfProcesses } from './processes.js'
import { removeLeftovers, temporaryBeside } from './temporary.js'

const NAME = '.lock'
const REMOVER = /^\.lock\.([0-9a-f-]{36}|unreadable)\.takeover$/

/** A lock is stale when its holder has not touched it for so long, in milliseconds. */
const STALE = 20_000
/** How often a holder touches it. */
const TOUCH = 5_000

/** The first pause between two attempts, in milliseconds; they grow to the longest. */
const FIRST_PAUSE = 2
const LONGEST_PAUSE = 50

/** What a lock file says, and when it was touched. */
interface Holder {
  readonly pid: number
  readonly place: string
  readonly token: string
  /** In milliseconds since 1970. */
  readonly touched: number
}

/**
 * Runs `work` while this process holds the lock of a directory that exists, whose leftovers it removes first.
 *
 * @param timeout How long the lock is waited for, in milliseconds.
 */
export async function withLockFile<T>(directory: string, timeout: number, work: () => Promise<T>): Promise<T> {
  const path = join(directory, NAME)
  const token = await acquire(directory, path, timeout)
  const touching = setInterval(() => void touch(path), TOUCH).unref()
  try {
    const names = await readdir(directory)
    await removeLeftovers(directory, names)
    await removeOldRemovers(directory, names, token)
    return await work()
  } finally {
    clearInterval(touching)
    await release(path, token)
  }
}

async function acquire(directory: string, path: string, timeout: number): Promise<string> {
  const end = performance.now() + timeout
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    let holder = await readHolder(path)
    if (holder !== null && isStale(holder)) {
      await removeStale(path, holder)
      holder = await readHolder(path)
    }
    if (holder === null) {
      const token = await create(path)
      if (token !== null) return token
      holder = await readHolder(path)
    }
    if (performance.now() >= end) throw lockTimeoutError(directory, describe(holder), timeout)
    // Unequal pauses, so that those who wait do not come together again and again.
    await sleep(pause * (0.5 + Math.random() / 2))
  }
}

async function release(path: string, token: string): Promise<void> {
  try {
    // It is somebody else's where this process was held up for so long that it was taken for dead.
    if ((await readHolder(path))?.token === token) await whileBusy(() => unlink(path))
  } catch {
    // The work is done. Nobody touches the lock any more, so that it goes stale.
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch(() => undefined)
}

/** Removes a lock whose holder is no more, unless another process is about to. */
async function removeStale(path: string, stale: Holder): Promise<void> {
  for (let gone = stale; ; ) {
    const remover = `${path}.${gone.token}.takeover`
    if ((await create(remover)) !== null) {
      try {
        if ((await readHolder(path))?.token === stale.token) await unlessAbsent(unlink(path), undefined)
      } finally {
        await unlink(remover).catch(() => undefined)
      }
      return
    }
    const other = await readHolder(remover)
    if (other === null || !isStale(other)) return
    gone = other
  }
}

/** Removes what killed removers of earlier locks have left. */
async function removeOldRemovers(directory: string, names: string[], token: string): Promise<void> {
  for (const name of names) {
    const removed = REMOVER.exec(name)?.[1]
    if (removed === undefined || removed === token) continue
    const path = join(directory, name)
    const remover = await readHolder(path)
    if (remover !== null && isStale(remover)) await unlink(path).catch(() => undefined)
  }
}

/** Makes a lock file; gives its token, or `null` where there is one already. */
async function create(path: string): Promise<string | null> {
  const token = crypto.randomUUID()
  const temporary = temporaryBeside(path)
  try {
    await writeFile(temporary, JSON.stringify({ pid: process.pid, place: placeOfProcesses(), token }), { flag: 'wx' })
    await linkNew(temporary, path)
    return token
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null
    throw error
  } finally {
    await unlink(temporary).catch(() => undefined)
  }
}

async function linkNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'UNKNOWN')) throw error
    // A file system without links. Should the process be killed in the middle of this, the lock goes stale.
    await whileBusy(() => copyFile(from, to, constants.COPYFILE_EXCL))
  }
}

/** `null` where there is no lock. */
async function readHolder(path: string): Promise<Holder | null> {
  // On Windows a lock that is being removed is busy for a moment.
  const file = await unlessAbsent(whileBusy(() => open(path)), null)
  if (file === null) return null
  try {
    const [{ mtimeMs: touched }, text] = [await file.stat(), await file.readFile('utf8')]
    return { ...parsed(text), touched }
  } finally {
    await file.close()
  }
}

function parsed(text: string): Omit<Holder, 'touched'> {
  try {
    const { pid, place, token } = JSON.parse(text) as Record<string, unknown>
    if (Number.isInteger(pid) && typeof place === 'string' && typeof token === 'string' && /^[0-9a-f-]{36}$/.test(token)) {
      return { pid: pid as number, place, token }
    }
  } catch {
    // As below.
  }
  return { pid: 0, place: '', token: 'unreadable' }
}

function isStale({ pid, place, touched }: Holder): boolean {
  return Date.now() - touched > STALE || (place === placeOfProcesses() && hasEnded(pid, touched))
}

function describe(holder: Holder | null): string {
  if (holder === null || holder.place === '') return 'somebody else'
  return holder.pid === process.pid && holder.place === placeOfProcesses()
    ? `another thread or copy of this package in this process (${holder.pid})`
    : `process ${holder.pid} on ${holder.place.split(' ', 1)[0]}`
}
