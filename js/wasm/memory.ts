import { withCallerStack } from '../caller-stack.js'
import { InvalidArgumentError, MemoryLimitError } from '../errors.js'
import { isLoaded, rust } from './runtime.js'

/** The memory of the WebAssembly module, in bytes. */
export interface MemoryUsage {
  /** What sessions, contexts, vocabularies and operations in progress take. */
  readonly used: number
  /** The size of the memory, `memory.buffer.byteLength`. It grows with `used`, but never shrinks: freed space is reused. */
  readonly reserved: number
  /** What `used` must not exceed: the `maxMemory` of `init`, or its default. */
  readonly limit: number
}

/** The size of the memory of a module at most, in bytes: 2**16 pages of 64 KiB. */
const LARGEST = 2 ** 32

/** 3 GiB. The rest is left to what the allocator cannot use and to small allocations that are not checked. */
const DEFAULT_LIMIT = 3 * 2 ** 30

/** How often an asynchronous operation is tried again before its error is final. */
const ATTEMPTS = 4

/** Allocated to make the engine collect garbage. The bytes are never touched, so they take no memory. */
const BALLAST = 2 ** 27

let limit = DEFAULT_LIMIT

/**
 * Returns how much memory the WebAssembly module takes. All sessions and contexts of a process or a page share it.
 *
 * @example
 * ```ts
 * import { memoryUsage } from 'peteos-session'
 *
 * const { used, limit } = memoryUsage()
 * console.log(`${Math.round((100 * used) / limit)} % of the memory are in use`)
 * ```
 *
 * @returns Zero for `used` and `reserved` before the module is loaded.
 */
export const memoryUsage = /* @__PURE__ */ withCallerStack('memoryUsage', (): MemoryUsage => {
  const [used, reserved] = isLoaded() ? rust().memoryNumbers() : [0, 0]
  return { used: used as number, reserved: reserved as number, limit }
})

/**
 * Sets the limit; it applies to the module once it is loaded.
 * @internal
 */
export function setMaxMemory(bytes: unknown): void {
  if (!Number.isInteger(bytes) || (bytes as number) < 1 || (bytes as number) > LARGEST) {
    const argument = 'options.maxMemory'
    const message = `${argument}: expected a number of bytes from 1 to ${LARGEST}`
    throw new InvalidArgumentError(message, { argument })
  }
  limit = bytes as number
  applyMaxMemory()
}

/**
 * Passes the limit to the module, if it is loaded.
 * @internal
 */
export function applyMaxMemory(): void {
  if (isLoaded()) rust().setMaxMemory(limit)
}

/**
 * Checks that strings or arrays which are about to be passed to Rust fit into the memory.
 *
 * @param length Their length. While a string is copied, it takes up to four bytes for each character.
 * @throws {MemoryLimitError} if they do not.
 * @internal
 */
export function ensureMemory(length: number): void {
  rust().ensureMemory(4 * length)
}

/**
 * Runs an asynchronous operation that changes nothing if it fails with a {@link MemoryLimitError}. In that case sessions
 * that nobody holds are collected, which takes turns of the event loop, and the operation is tried again.
 *
 * @internal
 */
export async function withMemory<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation()
    } catch (error) {
      if (!(error instanceof MemoryLimitError) || attempt === ATTEMPTS) throw error
    }
    await collectGarbage()
  }
}

async function collectGarbage(): Promise<void> {
  for (let count = 0; count < 4; count++) {
    try {
      // The memory of WebAssembly is no reason for the engine to collect garbage; large buffers are.
      new ArrayBuffer(BALLAST)
    } catch {
      // Where there is no space for it, the engine has collected garbage as well.
    }
    // The finalizers of collected objects run in a turn of their own.
    await new Promise((resolve) => setTimeout(resolve))
  }
}
