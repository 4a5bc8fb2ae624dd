/**
 * What `SessionStorage.lock` hands to the work that it runs: whether the lock is still held.
 */
export interface StorageLease {
  /**
   * To be called right before a file is replaced. Returns while the lock is held. Throws an error with the code `ELOCKLOST`
   * when another holder has taken it over: the files may have changed since they were compared, and must not be written.
   */
  check(): void
}

/**
 * The error of a holder whose lock was taken over.
 * @internal
 */
export function lockLostError(directory: string): Error {
  const message = `another writer took over the lock of ${directory}; nothing more was written: load the session again and repeat the change`
  return Object.assign(new Error(message), { code: 'ELOCKLOST', path: directory })
}
