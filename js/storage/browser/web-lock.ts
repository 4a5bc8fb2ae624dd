import { lockTimeoutError } from '../lock-timeout.js'
import { Queue } from '../queue.js'

/** For engines without Web Locks and pages outside a secure context. Its locks work within one tab. */
const queue = new Queue()

/**
 * Runs `work` while no other tab or worker of the origin holds the lock of a directory in a store. The browser releases the
 * locks of a tab that is closed.
 *
 * @param timeout How long to wait for the lock, in milliseconds.
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
