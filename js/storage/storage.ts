import { InvalidArgumentError } from '../errors.js'
import type { StorageLease } from './lease.js'
import type { AbortSignalLike } from './signal.js'

/** A file with the time of its last write. */
export interface StoredFile {
  readonly data: Uint8Array
  /** In milliseconds since 1970; `null` if it is not known. */
  readonly modifiedTime: number | null
}

/**
 * Stores the files of sessions. Paths are names separated by `/`. Each method may return its value or a promise of it, except
 * those whose names end with `Sync`. What a method throws becomes the `cause` of a `StorageError`; if it has a string `code`
 * (`ENOSPC`, `EACCES`, …), the `StorageError` has the same code.
 *
 * Test an adapter against this contract with `storageConformance` from `peteos-session/testing`.
 */
export interface SessionStorage {
  /** Returns the contents of a file, or `null` if there is none. The array must not be a view of the adapter's own data. */
  read(path: string): Promise<Uint8Array | null> | Uint8Array | null
  /**
   * Replaces a file as a whole, and creates the directories above it. At any moment a reader must find either the old or the
   * new contents. Once the promise resolves, the new ones must survive a crash. The array must not be used afterwards.
   *
   * If a lease is given, an adapter calls `lease.check()` right before the new contents replace the old ones. If that throws,
   * the old ones must stay, and `write` rethrows the error. An adapter that sends the contents elsewhere can end the request
   * when `lease.signal` is aborted.
   */
  write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> | void
  /** Returns the names in a directory, `[]` if it does not exist. Names that start with a dot belong to the adapter. */
  list(directory: string): Promise<string[]> | string[]
  /** Removes a file. Removing one that does not exist is not an error. */
  remove(path: string): Promise<void> | void
  /**
   * Returns the SHA-256 of a file in lower-case hexadecimal digits, `null` if there is no file, or `undefined` if it is not
   * known. Optional: with it, a save is refused if another writer has changed or removed a file.
   */
  digest?(path: string): Promise<string | null | undefined> | string | null | undefined
  /**
   * Runs `work` while no other holder (process, tab, object) holds the lock of this directory, and returns its result.
   * Optional: with it, `Session.save` compares digests and writes in one step, so that one of two concurrent saves is
   * refused; without it, both may find the old digest, and the later one wins.
   *
   * - The directory need not exist. Locks of different directories are independent, and a lock prevents nobody from reading
   *   or writing.
   * - The lock is released however `work` ends. What `work` throws is rethrown unchanged.
   * - The lock of a killed holder is released eventually.
   * - The wait is limited: after a time that the adapter documents, it rejects with an error whose `code` is `ELOCKED` and
   *   which names the directory and, if known, the holder. `work` does not run then.
   * - It is not reentrant: `work` must not lock the same directory.
   * - If the lock can be lost, because {@link lockSync} or another holder may take it over, `work` gets a lease that tells
   *   whether it still holds the lock.
   * - When `options.signal` is aborted, a wait for the lock ends, and `lock` rejects with the reason. Work that runs continues.
   *   An adapter may ignore the signal: `work` then returns at once when it is called.
   */
  lock?<T>(
    directory: string,
    work: (lease?: StorageLease) => Promise<T>,
    options?: { readonly signal?: AbortSignalLike },
  ): Promise<T>
  /** A synchronous {@link write}. Optional: for saves while a process exits, when no promise settles. */
  writeSync?(path: string, data: Uint8Array, lease?: StorageLease): void
  /** A synchronous {@link digest}. Optional: for synchronous saves. */
  digestSync?(path: string): string | null | undefined
  /**
   * A synchronous {@link lock}: `work` is synchronous, and the call blocks for a short time while another holder has the
   * lock. Optional: with it, `Session.saveSync` compares and writes in one step.
   *
   * It does not wait for a holder that cannot continue before it returns, such as an asynchronous one in the same thread:
   * `work` runs, and if it writes, that holder loses its lease. If the adapter cannot do that, it throws an error with the
   * code `ELOCKED`.
   */
  lockSync?<T>(directory: string, work: (lease?: StorageLease) => T): T
  /**
   * Returns the time of the last write to a file in milliseconds since 1970, or `null` if it is not known. Optional: without
   * it, `Session.list` orders the sessions of a day by their ids.
   */
  modifiedTime?(path: string): Promise<number | null> | number | null
  /**
   * Reads several files with their times at once: returns the result of each in the form of `Promise.allSettled`, `null` for a
   * file that does not exist. Optional: it makes `Session.list` faster.
   */
  readMany?(paths: readonly string[]): Promise<readonly PromiseSettledResult<StoredFile | null>[]>
  /**
   * Returns the path in a form that stays valid, such as an absolute path if the process may change its directory. Optional:
   * a session calls it once, for its parent directory.
   */
  absolutePath?(path: string): string
}

const METHODS = ['read', 'write', 'list', 'remove'] as const

/**
 * Throws if a value is not a storage adapter.
 * @internal
 */
export function checkStorage(storage: unknown): SessionStorage {
  if ((typeof storage !== 'object' && typeof storage !== 'function') || storage === null) {
    const message = 'options.storage: expected a storage adapter, such as new MemoryStorage()'
    throw new InvalidArgumentError(message, { argument: 'options.storage' })
  }
  for (const method of METHODS) {
    if (!hasMethod(storage, method)) {
      const argument = `options.storage.${method}`
      throw new InvalidArgumentError(`${argument}: a storage adapter needs this method`, { argument })
    }
  }
  return storage as SessionStorage
}

/**
 * Whether an object has a method; `false` when reading the property throws.
 * @internal
 */
export function hasMethod(storage: object, method: string): boolean {
  try {
    return typeof (storage as Record<string, unknown>)[method] === 'function'
  } catch {
    return false
  }
}
