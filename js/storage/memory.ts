import { rust } from '../wasm/runtime.js'
import { lockLostError, type StorageLease } from './lease.js'
import { LOCK_TIMEOUT, lockTimeoutError } from './lock-timeout.js'
import { Queue } from './queue.js'
import type { AbortSignalLike } from './signal.js'
import type { SessionStorage } from './storage.js'

/**
 * Keeps files in memory, for tests, previews and data that need not last.
 *
 * @example
 * ```ts
 * import { MemoryStorage, Session } from 'peteos-session'
 *
 * const storage = new MemoryStorage()
 * const session = Session.create('agents', { storage })
 * await session.save()
 * console.log(await Session.list('agents', { storage }))
 * ```
 */
export class MemoryStorage implements SessionStorage {
  readonly #files = new Map<string, { data: Uint8Array; modifiedTime: number }>()
  readonly #queue = new Queue()
  /** The holder of each lock, by directory. */
  readonly #holders = new Map<string, object>()

  /** A copy of the contents; `null` if there is no file. */
  async read(path: string): Promise<Uint8Array | null> {
    return this.#files.get(path)?.data.slice() ?? null
  }

  /** Stores a copy of the contents. With a lost lease of {@link lock} it throws `ELOCKLOST` and keeps the old ones. */
  async write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> {
    this.writeSync(path, data, lease)
  }

  /** A synchronous {@link write}. */
  writeSync(path: string, data: Uint8Array, lease?: StorageLease): void {
    lease?.check()
    this.#files.set(path, { data: data.slice(), modifiedTime: Date.now() })
  }

  /** The names directly below a directory. */
  async list(directory: string): Promise<string[]> {
    const prefix = directory === '' || directory === '.' ? '' : directory.endsWith('/') ? directory : `${directory}/`
    const names = new Set<string>()
    for (const path of this.#files.keys()) {
      if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split('/', 1)[0] ?? '')
    }
    return [...names]
  }

  /** Removes a file, if it exists. */
  async remove(path: string): Promise<void> {
    this.#files.delete(path)
  }

  /**
   * The SHA-256 of the contents; `null` if there is no file.
   *
   * @throws {NotInitializedError} before `init()`, in environments that need it.
   */
  async digest(path: string): Promise<string | null> {
    return this.digestSync(path)
  }

  /** A synchronous {@link digest}. */
  digestSync(path: string): string | null {
    const file = this.#files.get(path)
    return file === undefined ? null : rust().sha256(file.data)
  }

  /**
   * Runs `work` while no other user of this object holds the lock of the directory. Rejects with the code `ELOCKED` if the
   * lock could not be acquired within 30 seconds, and with the reason of `signal` if that is aborted before.
   */
  async lock<T>(
    directory: string,
    work: (lease: StorageLease) => Promise<T>,
    { signal }: { readonly signal?: AbortSignalLike } = {},
  ): Promise<T> {
    const onTimeout = () => lockTimeoutError(directory, 'another user of this MemoryStorage', LOCK_TIMEOUT)
    const held = async () => {
      // No synchronous holder can be active here.
      await undefined
      const lease = this.#lease(directory)
      try {
        return await work(lease)
      } finally {
        lease.release()
      }
    }
    return this.#queue.run(directory, LOCK_TIMEOUT, onTimeout, held, signal)
  }

  /**
   * A synchronous {@link lock}. It does not wait for the current holder, which cannot continue before it returns: `work` runs
   * anyway, and if it writes, the holder loses its lease.
   */
  lockSync<T>(directory: string, work: (lease: StorageLease) => T): T {
    const lease = this.#lease(directory)
    try {
      return work(lease)
    } finally {
      lease.release()
    }
  }

  /** The time of the last write in milliseconds since 1970; `null` if there is no file. */
  async modifiedTime(path: string): Promise<number | null> {
    return this.#files.get(path)?.modifiedTime ?? null
  }

  #lease(directory: string): StorageLease & { release(): void } {
    const suspended = this.#holders.get(directory)
    const holder = {}
    let hasWritten = false
    this.#holders.set(directory, holder)
    return {
      check: () => {
        if (this.#holders.get(directory) !== holder) throw lockLostError(directory)
        hasWritten = true
      },
      release: () => {
        if (this.#holders.get(directory) !== holder) return
        if (suspended !== undefined && !hasWritten) this.#holders.set(directory, suspended)
        else this.#holders.delete(directory)
      },
    }
  }
}
