// Node's timers and clock, taken when this module is loaded: test frameworks replace the global ones, some by those of a
// browser, which have no `unref`, and by clocks that stand still.
import { performance } from 'node:perf_hooks'
import * as timers from 'node:timers'

export const { clearInterval, setInterval, setTimeout } = timers

/** Milliseconds of a clock that never goes back. */
export const monotonicTime = performance.now.bind(performance)

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Blocks the thread. */
export function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
