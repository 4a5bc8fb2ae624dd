// Node's timers and clock as they were when this module was loaded. Test frameworks replace the global ones, some with those
// of a browser, which have no `unref`, or with clocks that stand still.
import { performance } from 'node:perf_hooks'
import * as timers from 'node:timers'
import type { AbortSignalLike } from '../signal.js'

const { clearTimeout } = timers
export const { clearInterval, setInterval, setTimeout } = timers

/** Milliseconds of a monotonic clock. */
export const monotonicTime = performance.now.bind(performance)

/** Waits until the time is over or the signal is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignalLike): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })
}

/** Lets everything else that is ready run first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => timers.setImmediate(resolve))
}

/** Blocks the thread. */
export function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
