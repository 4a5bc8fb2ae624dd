import { lockTimeoutError } from '../lock-timeout.js'
import { Queue } from '../queue.js'

/** For engines without Web Locks, and pages that are not a secure context: these are of one tab. */
const queue = new Queue()

/**
 * Runs `work` while no other tab or worker of the origin holds the lock of a directory in a store. The browser releases
 * the lock of a tab that ends.
 *
 * @param timeout How long the lock is waited for, in milliseconds.
 */
export async function withWebLock<T>(
  store: string,
  directory: string,
  timeout: number,
  work: () => Promise<T>,
): Promise<T> {
  const name = `peteos-session ${store} ${directory}`
  const onTimeout = () => lockTimeoutError(directory, 'another tab, worker or caller of this origin', timeout)
  const locks = (globalThis.navigator as Navigator | undefined)?.locks as LockManager | undefined
  if (locks === undefined) return queue.run(name, timeout, onTimeout, work)
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(onTimeout()), timeout)
  return locks.request(name, { signal: waiting.signal }, () => {
    clearTimeout(timer)
    return work()
  }) as Promise<T>
}
