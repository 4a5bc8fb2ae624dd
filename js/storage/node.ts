import { readdir, stat, unlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { constructing } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import { readOptions } from '../read-options.js'
import type { StorageLease } from './lease.js'
import { isTimeout, LOCK_TIMEOUT, lockTimeoutError } from './lock-timeout.js'
import { unlessAbsent, unlessAbsentSync } from './node/failures.js'
import { readRegularFile, readRegularFileSync } from './node/files.js'
import { removeEmpty, withLockFile, withLockFileSync } from './node/lock-file.js'
import { makeDirectory, makeDirectorySync, type Replacement, replaceFile, replaceFileSync } from './node/replace.js'
import { Root } from './node/root.js'
import { monotonicTime } from './node/timers.js'
import { Queue } from './queue.js'
import type { SessionStorage } from './storage.js'

/** Options of {@link NodeFileStorage}. */
export interface NodeFileStorageOptions {
  /**
   * The directory that paths are relative to and stay in: neither `..` nor a symbolic link leads out of it. Without it
   * paths are used as they are.
   */
  root?: string
  /** Whether symbolic links below `root` may lead out of it; by default not. */
  followLinks?: boolean
  /**
   * The permission bits of files that are new, such as `0o600`; the process's mask (umask) takes bits away. By default
   * `0o666`. A file that is replaced keeps its own.
   */
  mode?: number
  /**
   * `'full'` (the default): each write is on the disk before it is resolved, so that it survives a loss of power.
   * `'unsafe-on-power-loss'`: no fsync, several times faster. A killed process still leaves whole files, but when the
   * machine goes down the writes of the last seconds may be lost, and their files may be empty.
   */
  durability?: 'full' | 'unsafe-on-power-loss'
  /** How long {@link NodeFileStorage.lock} waits for a lock, in milliseconds; by default 30,000. */
  lockTimeout?: number
}

const OPTIONS = ['root', 'followLinks', 'mode', 'durability', 'lockTimeout'] as const

/** A synchronous caller blocks its thread while it waits, so it waits no longer than this, in milliseconds. */
const LONGEST_SYNC_WAIT = 5_000

/** The locks that are held or waited for in this thread, by directory: of all adapters, since they share the files. */
const queue = new Queue()

/**
 * Keeps files in Node's file system. A write makes a temporary file beside the target, syncs it to disk, renames it over
 * the target and syncs the directory: at any time the file is the old one or the new one, and once `write` is resolved
 * the new one survives a crash. When a write fails the old file stands and the temporary one is removed; only when the
 * last step fails, the sync of the directory, is the new file in place already. A replaced file keeps its permissions
 * and, as far as the process may set it, its owner. A rename that is refused because the file is open elsewhere (`EPERM`,
 * `EACCES`, `EBUSY`) is repeated for 1.3 seconds.
 *
 * @example
 * ```ts
 * import { Session } from 'peteos-session'
 * import { NodeFileStorage } from 'peteos-session/node'
 *
 * const storage = new NodeFileStorage({ root: '.', mode: 0o600 })
 * const session = Session.create('agents', { storage })
 * console.log(session.sessionDir)
 * ```
 */
export class NodeFileStorage implements SessionStorage {
  readonly #root: Root | undefined
  readonly #replacement: Replacement
  readonly #lockTimeout: number

  /** @throws {InvalidArgumentError} for an unknown option, or one of the wrong type. */
  constructor(options: NodeFileStorageOptions = {}) {
    const given = constructing(NodeFileStorage, () => checkedOptions(options))
    const { root, followLinks, mode, durability, lockTimeout } = given
    this.#root = root === undefined ? undefined : new Root(root, followLinks)
    this.#replacement = { mode, sync: durability === 'full' }
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` where there is none. What is neither a file nor a directory is not read: `EINVAL`. */
  async read(path: string): Promise<Uint8Array | null> {
    return unlessAbsent(readRegularFile(this.#resolve(path)), null)
  }

  /** As {@link read}, done when it returns. */
  readSync(path: string): Uint8Array | null {
    return unlessAbsentSync(() => readRegularFileSync(this.#resolve(path)), null)
  }

  /**
   * Replaces a file, atomically and durably.
   *
   * @param lease From {@link lock}: if the lock is lost, the file stays as it is, and the error has the code `ELOCKLOST`.
   */
  async write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> {
    await replaceFile(this.#resolveEntry(path), data, this.#replacement, lease)
  }

  /** As {@link write}, done when it returns: for the end of a process, when no promise is awaited any more. */
  writeSync(path: string, data: Uint8Array, lease?: StorageLease): void {
    replaceFileSync(this.#resolveEntry(path), data, this.#replacement, lease)
  }

  /** The names in a directory; none where it does not exist. */
  async list(directory: string): Promise<string[]> {
    return unlessAbsent(readdir(this.#resolve(directory)), [])
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    await unlessAbsent(unlink(this.#resolveEntry(path)), undefined)
  }

  /** The SHA-256 of the contents; `null` where there is no file. */
  async digest(path: string): Promise<string | null> {
    return sha256(await this.read(path))
  }

  /** As {@link digest}, done when it returns. */
  digestSync(path: string): string | null {
    return sha256(this.readSync(path))
  }

  /**
   * Runs `work` while no other caller holds the lock of the directory, which is made if need be: a file `.lock` in it that
   * names the thread of the holder. Callers in one thread are served in order; those of different threads and processes
   * try again and again. The lock of a thread of this host that has ended is taken over at once, that of a living one
   * never. Of a holder on another host or in another container nothing is known but that it touches its lock every 5
   * seconds: when that stops for 20 seconds, by the clock of the file system, the lock is taken over. Temporary files of
   * writers that have ended are removed from the directory.
   *
   * Rejects with the code `ELOCKED` when the lock could not be acquired within `lockTimeout`; `work` has not run then.
   */
  async lock<T>(directory: string, work: (lease: StorageLease) => Promise<T>): Promise<T> {
    const path = resolve(this.#resolve(directory))
    const end = monotonicTime() + this.#lockTimeout
    const onTimeout = () => lockTimeoutError(directory, 'another caller in this process', this.#lockTimeout)
    return queue.run(path, this.#lockTimeout, onTimeout, async () => {
      const made = await makeDirectory(path, this.#replacement.sync)
      try {
        return await withLockFile(path, Math.max(0, end - monotonicTime()), work)
      } finally {
        if (made !== undefined) removeEmpty(path, made)
      }
    })
  }

  /**
   * As {@link lock}, done when it returns. It blocks the thread while it waits, at most 5 seconds. If an asynchronous
   * caller in this thread holds the lock, which cannot go on before this returns, `work` runs in its stead; if that
   * writes, the lease of the other one is lost.
   */
  lockSync<T>(directory: string, work: (lease: StorageLease) => T): T {
    const path = resolve(this.#resolve(directory))
    const made = makeDirectorySync(path, this.#replacement.sync)
    try {
      return withLockFileSync(path, Math.min(this.#lockTimeout, LONGEST_SYNC_WAIT), work)
    } finally {
      if (made !== undefined) removeEmpty(path, made)
    }
  }

  /** When the file was written, in milliseconds since 1970; `null` where there is none. */
  async modifiedTime(path: string): Promise<number | null> {
    return unlessAbsent(
      stat(this.#resolve(path)).then((file) => file.mtimeMs),
      null,
    )
  }

  /** The absolute path, which stays the same when the process changes its directory; in a `root` paths are left alone. */
  absolutePath(path: string): string {
    return this.#root === undefined ? resolve(path) : path
  }

  #resolve(path: string): string {
    return this.#root === undefined ? path : this.#root.resolve(path)
  }

  #resolveEntry(path: string): string {
    return this.#root === undefined ? path : this.#root.resolveEntry(path)
  }
}

function checkedOptions(options: NodeFileStorageOptions) {
  const given = readOptions(options, OPTIONS, 'NodeFileStorage')
  const { root, followLinks = false, mode = 0o666, durability = 'full', lockTimeout = LOCK_TIMEOUT } = given
  check('root', root === undefined || typeof root === 'string', 'a string')
  check('followLinks', typeof followLinks === 'boolean', 'a boolean')
  check('mode', Number.isInteger(mode) && mode >= 0 && mode <= 0o777, 'permission bits, such as 0o600')
  check(
    'durability',
    durability === 'full' || durability === 'unsafe-on-power-loss',
    "'full' or 'unsafe-on-power-loss'",
  )
  check('lockTimeout', isTimeout(lockTimeout), 'a number of milliseconds')
  return { root, followLinks, mode, durability, lockTimeout }
}

function check(option: string, isRight: boolean, expected: string): void {
  if (isRight) return
  const argument = `options.${option}`
  throw new InvalidArgumentError(`${argument}: expected ${expected}`, { argument })
}

function sha256(contents: Uint8Array | null): string | null {
  if (contents === null) return null
  // Loading the module takes longer than anything else at the start, and is not needed then.
  const { createHash } = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')
  return createHash('sha256').update(contents).digest('hex')
}
