import { InvalidArgumentError, StorageError } from '../errors.js'
import type { StorageLease } from './lease.js'
import { isTimeout } from './lock-timeout.js'
import type { AbortSignalLike } from './signal.js'
import { hasMethod, type SessionStorage } from './storage.js'
import { clearTimeout, startTimer } from './timers.js'

/** Limits how long a call waits for the storage. */
export interface WaitOptions {
  /** Ends the call when it is aborted: the promise rejects with `signal.reason`. */
  signal?: AbortSignalLike
  /** The longest time in milliseconds that the call may take. After it the promise rejects with `ETIMEDOUT`. By default none. */
  timeout?: number
}

/** Something that is waited for, as an error names it. */
interface Call {
  readonly operation: string
  readonly path: string | (() => string)
  /** Whether it is not answered yet. */
  isPending: boolean
  /** Rejects its promise. */
  reject: (reason: unknown) => void
}

const ANSWERING = {
  read: 'read',
  readMany: 'read',
  list: 'list',
  remove: 'remove',
  digest: 'read',
  modifiedTime: 'read the time of',
}
const SYNCHRONOUS = ['writeSync', 'digestSync', 'lockSync']

/**
 * Runs `work`, and gives up when the signal is aborted or the time is over, whatever the storage does. The storage that `work`
 * gets then answers its pending calls with the code `ESTOPPED`, which ends the loops of Rust, and passes no further call on.
 * Leases that it has given to writes are lost.
 *
 * @param operation What the caller does, with `path`; an error names both if no call of the storage is pending.
 * @internal
 */
export async function bounded<T>(
  storage: SessionStorage,
  limits: WaitOptions,
  operation: string,
  path: () => string,
  work: (storage: SessionStorage) => Promise<T>,
): Promise<T> {
  const { signal, timeout } = checked(limits)
  if (signal === undefined && timeout === undefined) return work(storage)
  if (signal?.aborted) throw reasonOf(signal)
  const bound = new Bound(storage)
  const abort = () => bound.stop(reasonOf(signal))
  // It keeps the process alive until the call ends: otherwise a process without other work would end before its answer.
  const timer = timeout === undefined ? undefined : startTimer(timeout, () => bound.stop(bound.timeoutError(timeout)))
  signal?.addEventListener('abort', abort)
  try {
    return await bound.run(operation, path, work)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

class Bound {
  readonly #storage: SessionStorage
  /** What is under way, the newest last. The first is the whole work. */
  readonly #calls = new Set<Call>()
  readonly #controller = new AbortController()

  constructor(below: SessionStorage) {
    this.#storage = this.#around(below)
  }

  run<T>(operation: string, path: () => string, work: (storage: SessionStorage) => Promise<T>): Promise<T> {
    return this.#call(operation, path, () => work(this.#storage))
  }

  stop(reason: unknown): void {
    const [whole, ...calls] = this.#calls
    whole?.reject(reason)
    for (const call of calls) call.reject(stopped())
    this.#controller.abort(reason)
  }

  timeoutError(timeout: number): StorageError {
    const { operation, path: given } = [...this.#calls].filter((call) => call.isPending).at(-1) as Call
    const path = typeof given === 'string' ? given : given()
    const message = `could not ${operation} ${path}: no answer within the timeout of ${timeout} ms; try again, or raise options.timeout`
    const cause = Object.assign(new Error('the time is over'), { code: 'ETIMEDOUT' })
    return new StorageError(message, { operation, path, cause })
  }

  #around(below: SessionStorage): SessionStorage {
    const methods = below as unknown as Record<string, (...args: unknown[]) => unknown>
    const around: Record<string, unknown> = {
      write: (path: string, data: Uint8Array, lease?: StorageLease) =>
        this.#call('write', path, () => below.write(path, data, this.#lease(lease))),
    }
    for (const [method, operation] of Object.entries(ANSWERING)) {
      if (!hasMethod(below, method)) continue
      around[method] = (path: string | readonly string[]) =>
        this.#call(operation, [path].flat()[0] ?? '', () => methods[method]?.(path))
    }
    for (const method of SYNCHRONOUS) {
      if (!hasMethod(below, method)) continue
      around[method] = (...args: unknown[]) => {
        this.#check()
        return methods[method]?.(...args)
      }
    }
    if (hasMethod(below, 'lock')) {
      around.lock = <T>(directory: string, work: (lease?: StorageLease) => Promise<T>) =>
        this.#call('lock', directory, (call) => {
          // The lock is released when the work is stopped, even if that waits for something other than the storage.
          const start = async (lease?: StorageLease) =>
            this.#call('lock', directory, (held) => {
              call.isPending = false
              held.isPending = false
              return work(lease)
            })
          return below.lock?.(directory, start, { signal: this.#controller.signal })
        })
    }
    return around as unknown as SessionStorage
  }

  /** A lease that is also lost when the work is stopped. */
  #lease(lease: StorageLease | undefined): StorageLease {
    const check = () => {
      this.#check()
      lease?.check()
    }
    return { check, signal: this.#controller.signal }
  }

  #call<T>(operation: string, path: Call['path'], start: (call: Call) => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#check()
      const call: Call = { operation, path, isPending: true, reject }
      this.#calls.add(call)
      const answer = new Promise<T>((answer) => answer(start(call)))
      void answer.then(resolve, reject).then(() => this.#calls.delete(call))
    })
  }

  #check(): void {
    if (this.#controller.signal.aborted) throw stopped()
  }
}

function stopped(): Error {
  return Object.assign(new Error('the caller has stopped waiting'), { code: 'ESTOPPED' })
}

/** Older engines give no reason. */
function reasonOf(signal: AbortSignalLike | undefined): unknown {
  return signal?.reason ?? new DOMException('This operation was aborted', 'AbortError')
}

function checked({ signal, timeout }: WaitOptions): WaitOptions {
  if (signal !== undefined && !isSignal(signal)) throw wrong('options.signal', 'an AbortSignal')
  if (timeout !== undefined && !isTimeout(timeout)) throw wrong('options.timeout', 'a number of milliseconds')
  return { signal, timeout } as WaitOptions
}

/** Signals of other realms are as good. */
function isSignal(value: unknown): boolean {
  try {
    const { aborted, addEventListener, removeEventListener } = value as AbortSignal
    return (
      typeof aborted === 'boolean' &&
      typeof addEventListener === 'function' &&
      typeof removeEventListener === 'function'
    )
  } catch {
    return false
  }
}

function wrong(argument: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument}: expected ${expected}`, { argument })
}
