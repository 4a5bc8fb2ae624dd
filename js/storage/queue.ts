import { clearTimeout, setTimeout } from './timers.js'

/**
 * Runs work with the same key one after the other, in the order in which it came.
 * @internal
 */
export class Queue {
  /** By key: settled when all that came before is done. */
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` when its turn comes. After `milliseconds` in the queue it leaves it, and `onTimeout` makes the error.
   */
  async run<T>(key: string, milliseconds: number, onTimeout: () => Error, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    let leave = (): void => undefined
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // Leaving early does not let the next one in before its time.
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
