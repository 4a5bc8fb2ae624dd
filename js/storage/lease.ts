import type { AbortSignalLike } from './signal.js'
/**
 * Tells the work that `SessionStorage.lock` runs whether the lock is still held.
 */
export interface StorageLease {
  /**
   * Call this right before a file is replaced. It returns if the lock is held. It throws an error with the code `ELOCKLOST` if
   * another holder has taken it over: the files may have changed since they were compared, and must not be written.
   */
  check(): void
  /** Aborted when the caller stops waiting for its writes. {@link check} throws from then on. */
  readonly signal?: AbortSignalLike
}

/**
 * The error of a holder whose lock was taken over.
 * @internal
 */
export function lockLostError(directory: string): Error {
  const message = `another writer took over the lock of ${directory}; nothing more was written: load the session again and repeat the change`
  return Object.assign(new Error(message), { code: 'ELOCKLOST', path: directory })
}
