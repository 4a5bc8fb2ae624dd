import { InvalidArgumentError } from '../errors.js'
import type { StorageLease } from './lease.js'

/**
 * Where sessions are kept. Paths are names separated by `/`; each method may return its value or a promise of it, but for
 * those whose names end with `Sync`. What a method throws reaches the caller as the `cause` of a `StorageError`; if it has
 * a string `code` (`ENOSPC`, `EACCES`, …), that is the code of the error.
 *
 * `storageConformance` of `peteos-session/testing` tells whether an adapter fulfils this contract.
 */
export interface SessionStorage {
  /** The contents of a file, or `null` if there is none. The array is the caller's: no view of what the adapter keeps. */
  read(path: string): Promise<Uint8Array | null> | Uint8Array | null
  /**
   * Replaces a file as a whole, and makes the directories above it. Whatever happens, a reader finds the old contents or
   * the new ones, and once the promise is resolved the new ones survive a crash. The array is not used afterwards.
   *
   * An adapter whose locks can be lost calls `lease.check()`, if a lease is given, right before the new contents replace
   * the old ones; when that throws, the old ones stay, and `write` throws on what it threw.
   */
  write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> | void
  /** The names in a directory, `[]` if it does not exist. Names that start with a dot belong to the adapter. */
  list(directory: string): Promise<string[]> | string[]
  /** Removes a file; one that does not exist is no error. */
  remove(path: string): Promise<void> | void
  /**
   * The revision of a file, by which conflicts are found: the SHA-256 of its contents in lower-case hexadecimal digits,
   * `null` if there is no file, `undefined` if it cannot be told. Optional: with it a save over a file that another writer
   * has changed is refused, and one whose files were removed.
   */
  digest?(path: string): Promise<string | null | undefined> | string | null | undefined
  /**
   * Runs `work` while no other holder (process, tab, object) holds the lock of this directory, and returns what it
   * returns. Optional: with it `Session.save` compares the digests and writes in one step, so that of two saves at the
   * same moment one is refused; without it both may find the old digest and the later one wins.
   *
   * - The directory need not exist. Locks of different directories do not wait for one another, and a lock does not
   *   prevent anybody from reading or writing.
   * - The lock is released whatever becomes of `work`; what that throws is thrown on unchanged.
   * - A holder that was killed does not keep others out for ever.
   * - Nobody waits for ever: after a time that the adapter documents it rejects with an error whose `code` is `ELOCKED`,
   *   which names the directory and, if known, the holder; `work` has not run then.
   * - It is not reentrant: `work` must not lock the same directory.
   * - Where a lock can be lost, because {@link lockSync} or another holder takes it over, `work` is given a lease that
   *   tells so.
   */
  lock?<T>(directory: string, work: (lease?: StorageLease) => Promise<T>): Promise<T>
  /** As {@link write}, done when it returns. Optional: for saves while a process ends, when no promise is awaited. */
  writeSync?(path: string, data: Uint8Array, lease?: StorageLease): void
  /** As {@link digest}, done when it returns. Optional: for synchronous saves. */
  digestSync?(path: string): string | null | undefined
  /**
   * As {@link lock}, done when it returns: `work` is synchronous, and another holder is waited for by blocking, for a short
   * time. Optional: with it `Session.saveSync` compares and writes in one step.
   *
   * For a holder that cannot go on before this returns, such as an asynchronous one of the same thread, it does not wait:
   * `work` runs, and if it writes, the lease of that holder is lost. Where that is not possible, the error has the code
   * `ELOCKED`.
   */
  lockSync?<T>(directory: string, work: (lease?: StorageLease) => T): T
  /**
   * When a file was last written, in milliseconds since 1970, or `null` if that is not known. Optional: without it
   * `Session.list` orders the sessions of one day by their ids.
   */
  modifiedTime?(path: string): Promise<number | null> | number | null
  /**
   * The path in a form that keeps its meaning, such as an absolute one where a process may change its directory. Optional:
   * a session asks once for the path of its parent directory.
   */
  absolutePath?(path: string): string
}

const METHODS = ['read', 'write', 'list', 'remove'] as const

/**
 * Refuses a value that is no storage adapter before calling it.
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
