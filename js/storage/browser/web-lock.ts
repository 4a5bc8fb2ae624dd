import { lockTimeoutError } from '../lock-timeout.js'
import { Queue } from '../queue.js'
import type { AbortSignalLike } from '../signal.js'
import { clearTimeout, startTimer } from '../timers.js'

/** For engines without Web Locks and pages outside a secure context. Its locks work within one tab. */
const queue = new Queue()

/**
 * Runs `work` while no other tab or worker of the origin holds the lock of a directory in a store. The browser releases the
 * locks of a tab that is closed.
 *
 * @param timeout How long to wait for the lock, in milliseconds.
 * @param signal Ends the wait when it is aborted.
 */
export async function withWebLock<T>(
  store: string,
  directory: string,
  timeout: number,
  work: () => Promise<T>,
  signal: AbortSignalLike | undefined,
): Promise<T> {
  const name = `peteos-session ${store} ${directory}`
  const onTimeout = () => lockTimeoutError(directory, 'another tab, worker or caller of this origin', timeout)
  const locks = (globalThis.navigator as Navigator | undefined)?.locks as LockManager | undefined
  if (locks === undefined) return queue.run(name, timeout, onTimeout, work, signal)
  const waiting = new AbortController()
  const abort = () => waiting.abort(signal?.reason)
  const timer = startTimer(timeout, () => waiting.abort(onTimeout()))
  signal?.addEventListener('abort', abort)
  const end = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  const request = locks.request(name, { signal: waiting.signal }, () => {
    end()
    return work()
  }) as Promise<T>
  return request.finally(end)
}
