import { InvalidArgumentError } from '../errors.js'

/**
 * Where sessions are kept. Paths are made of names separated by `/`; each method may return its value or a promise of
 * it, but for those whose names end with `Sync`. What a method throws reaches the caller as the `cause` of a
 * `StorageError`; where it has a `code` that is a string (`ENOSPC`, `EACCES`, …), that is the code of the error.
 *
 * `storageConformance` of `peteos-session/testing` tells whether an adapter keeps what is promised here.
 */
export interface SessionStorage {
  /** The contents of a file, or `null` where there is none. The array is the caller's: it is no view of what is kept. */
  read(path: string): Promise<Uint8Array | null> | Uint8Array | null
  /**
   * Replaces a file as a whole, and makes the directories above it. Whatever happens, a reader finds the old contents or
   * the new ones, and once the promise is resolved the new ones survive a crash. The array is not used afterwards.
   */
  write(path: string, data: Uint8Array): Promise<void> | void
  /** The names in a directory, `[]` where it does not exist. Names that start with a dot belong to the adapter. */
  list(directory: string): Promise<string[]> | string[]
  /** Removes a file; one that does not exist is no error. */
  remove(path: string): Promise<void> | void
  /**
   * The revision of a file by which conflicts are told: the SHA-256 of its contents in lower-case hexadecimal digits,
   * `null` where there is no file, `undefined` where it cannot be told. Optional: with it a save over a file that
   * somebody else has changed is refused.
   */
  digest?(path: string): Promise<string | null | undefined> | string | null | undefined
  /**
   * Runs `work` while no other holder (process, tab, object) holds the lock of this directory, and gives what it gives.
   * Optional: with it `Session.save` compares the digests and writes in one step, so that of two saves at the same
   * moment one is refused; without it both may find the old digest and the later one wins.
   *
   * - The directory need not exist. Locks of different directories do not wait for one another, and a lock does not
   *   keep anybody from reading or writing.
   * - The lock is released whatever becomes of `work`; what that throws is thrown on as it is.
   * - A holder that was killed keeps nobody out for ever.
   * - Who waits does not wait for ever: after a time that the adapter documents it rejects with an error whose `code` is
   *   `ELOCKED`, which names the directory and, where it is known, the holder; `work` has not run then.
   * - It is not taken twice: `work` must not lock the same directory.
   */
  lock?<T>(directory: string, work: () => Promise<T>): Promise<T>
  /** As {@link write}, done when it returns. Optional: for saves while a process ends, when no promise is awaited. */
  writeSync?(path: string, data: Uint8Array): void
  /** As {@link digest}, known when it returns. Optional: for synchronous saves. */
  digestSync?(path: string): string | null | undefined
  /**
   * When a file was last written, in milliseconds since 1970, or `null` where that is not known. Optional: without it
   * `Session.list` orders the sessions of one day by their ids.
   */
  modifiedTime?(path: string): Promise<number | null> | number | null
}

const METHODS = ['read', 'write', 'list', 'remove'] as const

/**
 * Refuses what is no storage adapter before anything is asked of it.
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
 * Whether an object has a method; not when that cannot be looked at.
 * @internal
 */
export function hasMethod(storage: object, method: string): boolean {
  try {
    return typeof (storage as Record<string, unknown>)[method] === 'function'
  } catch {
    return false
  }
}
