import type { AbortSignalLike } from './signal.js'
import { clearTimeout, startTimer } from './timers.js'

/**
 * Runs work with the same key one piece after the other, in order of arrival.
 * @internal
 */
export class Queue {
  /** Settled when all earlier work with the key is done. */
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` when its turn comes. After `milliseconds` of waiting it gives up with the error that `onTimeout` returns, or
   * with the reason of the signal as soon as that is aborted.
   */
  async run<T>(
    key: string,
    milliseconds: number,
    onTimeout: () => Error,
    work: () => Promise<T>,
    signal?: AbortSignalLike,
  ): Promise<T> {
    const before = this.#tails.get(key)
    let leave = (): void => undefined
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // The next one still waits for its turn if this one gives up.
    const tail = Promise.all([before, left]).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    this.#tails.set(key, tail)
    try {
      if (before !== undefined) await within(before, milliseconds, onTimeout, signal)
      return await work()
    } finally {
      leave()
    }
  }
}

async function within(
  promise: Promise<void>,
  milliseconds: number,
  onTimeout: () => Error,
  signal: AbortSignalLike | undefined,
): Promise<void> {
  let giveUp!: (reason: unknown) => void
  const given = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  const abort = () => giveUp(signal?.reason)
  const timer = startTimer(milliseconds, () => giveUp(onTimeout()))
  signal?.addEventListener('abort', abort)
  try {
    await Promise.race([promise, given])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
