import { readdir, stat, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { constructing } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import { requireFrom } from '../node-require.js'
import { readOptions } from '../read-options.js'
import type { StorageLease } from './lease.js'
import { isTimeout, LOCK_TIMEOUT, lockTimeoutError } from './lock-timeout.js'
import { makeDirectory, makeDirectorySync } from './node/directories.js'
import { unlessAbsent, unlessAbsentSync } from './node/failures.js'
import { readRegularFile, readRegularFileSync } from './node/files.js'
import { removeEmpty, withLockFile, withLockFileSync } from './node/lock-file.js'
import { type Replacement, replaceFile, replaceFileSync } from './node/replace.js'
import { Root } from './node/root.js'
import { monotonicTime, nextTurn } from './node/timers.js'
import { Queue } from './queue.js'
import type { AbortSignalLike } from './signal.js'
import type { SessionStorage, StoredFile } from './storage.js'

/** Options of {@link NodeFileStorage}. */
export interface NodeFileStorageOptions {
  /**
   * The directory that all paths are relative to and confined to: neither `..` nor a symbolic link leads out of it. By
   * default paths are used unchanged.
   */
  root?: string
  /** Whether symbolic links below `root` may lead out of it. By default `false`. */
  followLinks?: boolean
  /**
   * The permission bits of new files, such as `0o600`; the umask of the process applies. By default `0o666`. A replaced file
   * keeps its permissions.
   */
  mode?: number
  /**
   * `'full'` (the default): each write is on disk before its promise resolves, so that it survives a power loss.
   * `'unsafe-on-power-loss'`: no fsync, several times faster. A killed process still leaves complete files, but a power loss
   * may lose the writes of the last seconds and leave their files empty.
   */
  durability?: 'full' | 'unsafe-on-power-loss'
  /** How long {@link NodeFileStorage.lock} waits for a lock, in milliseconds. By default 30,000. */
  lockTimeout?: number
}

const OPTIONS = ['root', 'followLinks', 'mode', 'durability', 'lockTimeout'] as const

/** The longest wait of a synchronous caller in milliseconds, because it blocks its thread. */
const LONGEST_SYNC_WAIT = 5_000

/** How long many files are read synchronously, in milliseconds. */
const LONGEST_SYNC_READ = 2

/** The locks held or awaited in this thread, by directory. All adapters share it, because they share the files. */
const queue = new Queue()

/**
 * Keeps files in Node's file system. A write creates a temporary file beside the target, syncs it to disk, renames it over
 * the target and syncs the directory: at any time the file is the old one or the new one, and once `write` resolves the new
 * one survives a crash. If a write fails, the old file stays and the temporary one is removed; only if the last step fails,
 * the sync of the directory, is the new file already in place. A replaced file keeps its permissions and, if the process may
 * set it, its owner. A rename that is refused because the file is open elsewhere (`EPERM`, `EACCES`, `EBUSY`) is retried for
 * 1.3 seconds.
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

  /** The contents of a file; `null` if there is none. Throws `EINVAL` for anything that is neither a file nor a directory. */
  async read(path: string): Promise<Uint8Array | null> {
    return (await this.#readFile(path))?.data ?? null
  }

  /** A synchronous {@link read}. */
  readSync(path: string): Uint8Array | null {
    return this.#readFileSync(path)?.data ?? null
  }

  /**
   * Several files with the times of their last writes: the result of each. They are read synchronously for up to 2 ms, which is
   * much faster for files in the cache of the system, and the rest concurrently.
   */
  async readMany(paths: readonly string[]): Promise<PromiseSettledResult<StoredFile | null>[]> {
    await nextTurn()
    const end = monotonicTime() + LONGEST_SYNC_READ
    const settled = paths.map((path) => {
      if (monotonicTime() >= end) return this.#readFile(path)
      try {
        return this.#readFileSync(path)
      } catch (reason) {
        return Promise.reject(reason)
      }
    })
    return Promise.allSettled(settled)
  }

  /**
   * Replaces a file, atomically and durably.
   *
   * @param lease From {@link lock}: if the lock is lost, the file is not changed, and the error has the code `ELOCKLOST`.
   */
  async write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> {
    await replaceFile(this.#resolveEntry(path), data, this.#replacement, lease)
  }

  /** A synchronous {@link write}, for the end of a process, when no promise settles. */
  writeSync(path: string, data: Uint8Array, lease?: StorageLease): void {
    replaceFileSync(this.#resolveEntry(path), data, this.#replacement, lease)
  }

  /** The names in a directory; an empty list if it does not exist. */
  async list(directory: string): Promise<string[]> {
    return unlessAbsent(readdir(this.#resolve(directory)), [])
  }

  /** Removes a file, if it exists. */
  async remove(path: string): Promise<void> {
    await unlessAbsent(unlink(this.#resolveEntry(path)), undefined)
  }

  /** The SHA-256 of the contents; `null` if there is no file. */
  async digest(path: string): Promise<string | null> {
    return sha256(await this.read(path))
  }

  /** A synchronous {@link digest}. */
  digestSync(path: string): string | null {
    return sha256(this.readSync(path))
  }

  /**
   * Runs `work` while no other caller holds the lock of the directory, which is created if necessary. The lock is a file
   * `.lock` that names the thread of its holder. Callers in one thread are served in order, and so are threads and processes.
   * The lock of an ended thread of this host is taken over at once, that of a living one never. A holder on another host or in
   * another container refreshes its lock every second; if it does not for 10 seconds, by the clock of the file system, the
   * lock is taken over. Temporary files of writers that have ended are removed from the directory.
   *
   * Rejects with the code `ELOCKED` if the lock could not be acquired within `lockTimeout`, and with the reason of `signal` if
   * that is aborted before; `work` does not run then.
   */
  async lock<T>(
    directory: string,
    work: (lease: StorageLease) => Promise<T>,
    { signal }: { readonly signal?: AbortSignalLike } = {},
  ): Promise<T> {
    const path = resolve(this.#resolve(directory))
    const end = monotonicTime() + this.#lockTimeout
    const onTimeout = () => lockTimeoutError(directory, 'another caller in this process', this.#lockTimeout)
    const turn = async () => {
      const made = await makeDirectory(path, this.#replacement.sync)
      try {
        return await withLockFile(path, Math.max(0, end - monotonicTime()), work, signal)
      } finally {
        if (made !== undefined) removeEmpty(path, made)
      }
    }
    return queue.run(path, this.#lockTimeout, onTimeout, turn, signal)
  }

  /**
   * A synchronous {@link lock}. It blocks the thread while it waits, at most 5 seconds. If an asynchronous caller in this
   * thread holds the lock, which cannot continue before this returns, `work` runs without waiting; if it writes, that caller
   * loses its lease.
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

  /** The time of the last write in milliseconds since 1970; `null` if there is no file. */
  async modifiedTime(path: string): Promise<number | null> {
    return unlessAbsent(
      stat(this.#resolve(path)).then((file) => file.mtimeMs),
      null,
    )
  }

  /** The absolute path, which stays valid when the process changes its directory. With `root` the path is unchanged. */
  absolutePath(path: string): string {
    return this.#root === undefined ? resolve(path) : path
  }

  async #readFile(path: string): Promise<StoredFile | null> {
    return unlessAbsent(readRegularFile(this.#resolve(path)), null)
  }

  #readFileSync(path: string): StoredFile | null {
    return unlessAbsentSync(() => readRegularFileSync(this.#resolve(path)), null)
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
  // Loaded at first use: it would take more time than anything else at the start.
  const name = 'node:crypto'
  // Before Node 20.16 only `require` loads a module of Node late. The path only has to be absolute.
  const crypto =
    process.getBuiltinModule?.(name) ?? (requireFrom(process.execPath)(name) as typeof import('node:crypto'))
  return crypto.createHash('sha256').update(contents).digest('hex')
}
