import { messageOf, property, StorageError } from '../errors.js'
import type { StorageLease } from './lease.js'
import { hasMethod, type SessionStorage } from './storage.js'

/**
 * Runs `work` under the lock of a directory, if the adapter has locks. Errors of `work` are rethrown; a failure of the lock is
 * a `StorageError` with the operation `lock`.
 * @internal
 */
export async function locked<T>(
  storage: SessionStorage,
  directory: string,
  work: (lease?: StorageLease) => Promise<T>,
): Promise<T> {
  if (!hasMethod(storage, 'lock')) return work()
  let outcome: PromiseSettledResult<T> | undefined
  try {
    await storage.lock?.(directory, async (lease) => {
      const [settled] = await Promise.allSettled([work(lease)])
      outcome = settled
      // The adapter sees the failure, as it would with any other caller.
      if (settled.status === 'rejected') throw settled.reason
    })
  } catch (cause) {
    if (outcome?.status !== 'rejected') throw lockError(directory, cause)
  }
  return resultOf(outcome, directory)
}

/**
 * Like {@link locked}, with `lockSync`.
 * @internal
 */
export function lockedSync<T>(storage: SessionStorage, directory: string, work: (lease?: StorageLease) => T): T {
  if (!hasMethod(storage, 'lockSync')) return work()
  let outcome: PromiseSettledResult<T> | undefined
  try {
    storage.lockSync?.(directory, (lease) => {
      try {
        outcome = { status: 'fulfilled', value: work(lease) }
      } catch (reason) {
        outcome = { status: 'rejected', reason }
        throw reason
      }
    })
  } catch (cause) {
    if (outcome?.status !== 'rejected') throw lockError(directory, cause)
  }
  return resultOf(outcome, directory)
}

function resultOf<T>(outcome: PromiseSettledResult<T> | undefined, directory: string): T {
  if (outcome === undefined) {
    const message = `could not lock ${directory}: the storage adapter did not run the work that it was given`
    throw new StorageError(message, { operation: 'lock', path: directory })
  }
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

function lockError(path: string, cause: unknown): StorageError {
  const given = property(cause, 'message')
  const message = typeof given === 'string' ? given : messageOf(cause)
  return new StorageError(`could not lock ${path}: ${message}`, { operation: 'lock', path, cause })
}
