import { readFileSync } from 'node:fs'
import { readdir, readFile, stat, unlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { InvalidArgumentError } from '../errors.js'
import { readOptions } from '../read-options.js'
import { isTimeout, LOCK_TIMEOUT, lockTimeoutError } from './lock-timeout.js'
import { unlessAbsent, unlessAbsentSync } from './node/failures.js'
import { withLockFile } from './node/lock-file.js'
import { makeDirectory, replaceFile, replaceFileSync, type Replacement } from './node/replace.js'
import { Queue } from './queue.js'
import type { SessionStorage } from './storage.js'

/** Options of {@link NodeFileStorage}. */
export interface NodeFileStorageOptions {
  /**
   * The directory that paths are relative to, and that none may lead out of by its names; symbolic links are followed.
   * Without it paths are used as they are.
   */
  root?: string
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

const OPTIONS = ['root', 'mode', 'durability', 'lockTimeout'] as const

/** The locks that are held or waited for in this thread, by directory: of all adapters, since they share the files. */
const queue = new Queue()

/**
 * Keeps files in Node's file system. A write makes a temporary file beside the target, syncs it to disk, renames it over
 * the target and syncs the directory: at any time the file is the old one or the new one, and once `write` is resolved
 * the new one survives a crash. When a write fails the old file stands and the temporary one is removed. Where the rename
 * is refused because somebody has the file open (`EPERM`, `EACCES`, `EBUSY`), it is tried again for 1.3 seconds.
 */
export class NodeFileStorage implements SessionStorage {
  readonly #root: string | undefined
  readonly #replacement: Replacement
  readonly #lockTimeout: number

  /** @throws {InvalidArgumentError} for an option that is not known, or of the wrong kind. */
  constructor(options: NodeFileStorageOptions = {}) {
    const given = readOptions(options, OPTIONS, 'NodeFileStorage')
    const { root, mode = 0o666, durability = 'full', lockTimeout = LOCK_TIMEOUT } = given
    check('root', root === undefined || typeof root === 'string', 'a string')
    check('mode', Number.isInteger(mode) && mode >= 0 && mode <= 0o777, 'permission bits, such as 0o600')
    check('durability', durability === 'full' || durability === 'unsafe-on-power-loss', "'full' or 'unsafe-on-power-loss'")
    check('lockTimeout', isTimeout(lockTimeout), 'a number of milliseconds')
    this.#root = root === undefined ? undefined : resolve(root)
    this.#replacement = { mode, sync: durability === 'full' }
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` where there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return unlessAbsent(readFile(this.#resolve(path)), null)
  }

  /** As {@link read}, at once. */
  readSync(path: string): Uint8Array | null {
    return unlessAbsentSync(() => readFileSync(this.#resolve(path)), null)
  }

  /** Replaces a file, atomically and durably. */
  async write(path: string, data: Uint8Array): Promise<void> {
    await replaceFile(this.#resolve(path), data, this.#replacement)
  }

  /** As {@link write}, done when it returns: for the end of a process, when no promise is awaited any more. */
  writeSync(path: string, data: Uint8Array): void {
    replaceFileSync(this.#resolve(path), data, this.#replacement)
  }

  /** The names in a directory; none where it does not exist. */
  async list(directory: string): Promise<string[]> {
    return unlessAbsent(readdir(this.#resolve(directory)), [])
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    await unlessAbsent(unlink(this.#resolve(path)), undefined)
  }

  /** The SHA-256 of the contents; `null` where there is no file. */
  async digest(path: string): Promise<string | null> {
    return sha256(await this.read(path))
  }

  /** As {@link digest}, at once. */
  digestSync(path: string): string | null {
    return sha256(this.readSync(path))
  }

  /**
   * Runs `work` while nobody else holds the lock of the directory, which is made if need be: a file `.lock` in it that
   * names the process. Those of one thread wait in the order in which they came, those of different processes ask again
   * and again. The lock of a process of this machine that is no more, and one that its holder, which touches it every
   * 5 seconds, has not touched for 20 seconds, is taken over. Temporary files that killed processes have left in the
   * directory are removed.
   *
   * Rejects with the code `ELOCKED` when the lock is not to be had within `lockTimeout`; `work` has not run then.
   */
  async lock<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const path = resolve(this.#resolve(directory))
    const end = performance.now() + this.#lockTimeout
    const onTimeout = () => lockTimeoutError(directory, 'another caller in this process', this.#lockTimeout)
    return queue.run(path, this.#lockTimeout, onTimeout, async () => {
      await makeDirectory(path, this.#replacement.sync)
      return withLockFile(path, Math.max(0, end - performance.now()), work)
    })
  }

  /** When the file was written, in milliseconds since 1970; `null` where there is none. */
  async modifiedTime(path: string): Promise<number | null> {
    return unlessAbsent(stat(this.#resolve(path)).then((file) => file.mtimeMs), null)
  }

  #resolve(path: string): string {
    if (this.#root === undefined) return path
    const target = resolve(this.#root, path)
    const inside = relative(this.#root, target)
    if (inside === '..' || inside.startsWith(join('..', '/')) || isAbsolute(inside)) {
      throw Object.assign(new Error(`${path} is outside of ${this.#root}`), { code: 'EACCES' })
    }
    return target
  }
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
