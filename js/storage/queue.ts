import { clearTimeout, setTimeout } from './timers.js'

/**
 * Runs work with the same key one piece after the other, in order of arrival.
 * @internal
 */
export class Queue {
  /** Settled when all earlier work with the key is done. */
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` when its turn comes. After `milliseconds` of waiting it gives up with the error that `onTimeout` returns.
   */
  async run<T>(key: string, milliseconds: number, onTimeout: () => Error, work: () => Promise<T>): Promise<T> {
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
      if (before !== undefined) await within(before, milliseconds, onTimeout)
      return await work()
    } finally {
      leave()
    }
  }
}

function within(promise: Promise<void>, milliseconds: number, onTimeout: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), milliseconds)
    void promise.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
