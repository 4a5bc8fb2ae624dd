import { InvalidArgumentError } from '../errors.js'

/**
 * Where sessions are kept. Paths are made of names separated by `/`; each method may return its value or a promise of
 * it. What a method throws reaches the caller as the `cause` of a `StorageError`.
 */
export interface SessionStorage {
  /** The contents of a file, or `null` where there is none. */
  read(path: string): Promise<Uint8Array | null> | Uint8Array | null
  /**
   * Replaces a file as a whole, and makes the directories above it. Whatever happens, a reader finds the old contents or
   * the new ones, and once the promise is resolved the new ones survive a crash.
   */
  write(path: string, data: Uint8Array): Promise<void> | void
  /** The names in a directory, `[]` where it does not exist. */
  list(directory: string): Promise<string[]> | string[]
  /** Removes a file; one that does not exist is no error. */
  remove(path: string): Promise<void> | void
  /**
   * The SHA-256 of a file's contents in lower-case hexadecimal digits, `null` where there is no file, `undefined` where
   * it cannot be told. Optional: with it a save over a file that somebody else has changed is refused.
   */
  digest?(path: string): Promise<string | null | undefined> | string | null | undefined
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

function hasMethod(storage: object, method: string): boolean {
  try {
    return typeof (storage as Record<string, unknown>)[method] === 'function'
  } catch {
    return false
  }
}
