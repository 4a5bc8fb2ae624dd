import { messageOf, StorageError } from '../errors.js'
import { hasMethod, type SessionStorage } from './storage.js'

/**
 * Runs `work` in the lock of a directory, where the adapter has locks. What `work` throws is thrown on; a lock that
 * fails is a `StorageError` of the operation `lock`.
 * @internal
 */
export async function locked<T>(storage: SessionStorage, directory: string, work: () => Promise<T>): Promise<T> {
  if (!hasMethod(storage, 'lock')) return work()
  let outcome: PromiseSettledResult<T> | undefined
  try {
    await storage.lock?.(directory, async () => {
      const [settled] = await Promise.allSettled([work()])
      outcome = settled
      // The adapter is to see the failure, as its own callers would have it.
      if (settled.status === 'rejected') throw settled.reason
    })
  } catch (cause) {
    if (outcome?.status !== 'rejected') throw lockError(directory, cause instanceof Error ? cause.message : messageOf(cause), cause)
  }
  if (outcome === undefined) throw lockError(directory, 'the storage adapter did not run what it was given')
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

function lockError(path: string, message: string, cause?: unknown): StorageError {
  return new StorageError(`could not lock ${path}: ${message}`, { operation: 'lock', path, cause })
}
