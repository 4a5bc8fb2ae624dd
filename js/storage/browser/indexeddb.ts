import { constructing } from '../../caller-stack.js'
import { rust } from '../../wasm/runtime.js'
import type { StorageLease } from '../lease.js'
import type { AbortSignalLike } from '../signal.js'
import type { SessionStorage } from '../storage.js'
import { type BrowserStorageOptions, checkedOptions } from './options.js'
import { namesOf } from './paths.js'
import { withWebLock } from './web-lock.js'

const FILES = 'files'

/** The value in the object store, by path. */
interface StoredFile {
  data: Uint8Array
  modifiedTime: number
}

/**
 * Keeps files in an IndexedDB database, which all tabs and workers of an origin share. Each write is one transaction with
 * strict durability: it happens as a whole or not at all, and once its promise resolves it survives a crash as far as the
 * browser can guarantee. A write that exceeds the quota rejects with the browser's `QuotaExceededError`, and the file keeps
 * its old contents. The browser may delete the whole database when space is short, unless `navigator.storage.persist()` was
 * granted.
 *
 * @example
 * ```ts no-run
 * import { init, Session } from 'peteos-session'
 * import { IndexedDBStorage } from 'peteos-session/browser-storage'
 *
 * await init()
 * const storage = new IndexedDBStorage()
 * const session = Session.create('sessions', { storage })
 * await session.save()
 * ```
 */
export class IndexedDBStorage implements SessionStorage {
  readonly #name: string
  readonly #lockTimeout: number
  #database: Promise<IDBDatabase> | undefined

  /** Opens nothing yet. @throws {InvalidArgumentError} if an option is unknown or invalid. */
  constructor(options: BrowserStorageOptions = {}) {
    const { name, lockTimeout } = constructing(IndexedDBStorage, () => checkedOptions(options, 'IndexedDBStorage'))
    this.#name = name
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` if there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return (await this.#get(path))?.data ?? null
  }

  /** Replaces a file, in one transaction. */
  async write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> {
    // IndexedDB would store a copy of the whole buffer that the array is a view of.
    const file: StoredFile = { data: data.slice(), modifiedTime: Date.now() }
    await this.#change((files) => {
      lease?.check()
      return files.put(file, keyOf(path))
    })
  }

  /** The names directly below a directory. */
  async list(directory: string): Promise<string[]> {
    const prefix = namesOf(directory)
      .map((name) => `${name}/`)
      .join('')
    const files = await this.#files('readonly')
    const names = new Set<string>()
    const request = files.openKeyCursor(prefix === '' ? null : IDBKeyRange.bound(prefix, after(prefix), true, true))
    return new Promise((resolve, reject) => {
      request.onerror = () => reject(request.error)
      request.onsuccess = () => {
        const cursor = request.result
        if (cursor === null) return resolve([...names])
        const [name, below] = (cursor.key as string).slice(prefix.length).split('/', 2)
        names.add(name as string)
        // Skip the rest of a directory.
        if (below === undefined) cursor.continue()
        else cursor.continue(after(`${prefix}${name}/`))
      }
    })
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    await this.#change((files) => files.delete(keyOf(path)))
  }

  /**
   * The SHA-256 of the contents; `null` if there is no file.
   *
   * @throws {NotInitializedError} before `init()`.
   */
  async digest(path: string): Promise<string | null> {
    const data = await this.read(path)
    return data === null ? null : rust().sha256(data)
  }

  /**
   * Runs `work` while no other tab or worker of the origin holds the lock of the directory. The browser releases the locks
   * of a tab that is closed. A page outside a secure context has no such locks; there the lock works within the tab only.
   * Rejects with the code `ELOCKED` if the lock could not be acquired within `lockTimeout`.
   */
  async lock<T>(
    directory: string,
    work: () => Promise<T>,
    { signal }: { readonly signal?: AbortSignalLike } = {},
  ): Promise<T> {
    return withWebLock(`IndexedDB ${this.#name}`, namesOf(directory).join('/'), this.#lockTimeout, work, signal)
  }

  /** The time of the last write in milliseconds since 1970; `null` if there is no file. */
  async modifiedTime(path: string): Promise<number | null> {
    return (await this.#get(path))?.modifiedTime ?? null
  }

  async #get(path: string): Promise<StoredFile | undefined> {
    const request: IDBRequest<StoredFile | undefined> = (await this.#files('readonly')).get(keyOf(path))
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  }

  async #change(change: (files: IDBObjectStore) => IDBRequest): Promise<void> {
    const files = await this.#files('readwrite')
    const { transaction } = files
    return new Promise((resolve, reject) => {
      // The write is durable when the transaction completes, not when the request succeeds.
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error ?? request.error)
      const request = change(files)
    })
  }

  async #files(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    try {
      return filesOf(await this.#open(), mode)
    } catch (error) {
      if ((error as DOMException | null)?.name !== 'InvalidStateError') throw error
      // The connection was closed in the meantime.
      this.#database = undefined
      return filesOf(await this.#open(), mode)
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#database ??= openDatabase(this.#name).then(
      (database) => {
        // Whoever deletes the database must not wait for this connection.
        database.onversionchange = () => this.#forget(database)
        database.onclose = () => this.#forget(database)
        return database
      },
      (error) => {
        this.#database = undefined
        throw error
      },
    )
    return this.#database
  }

  #forget(database: IDBDatabase): void {
    database.close()
    this.#database = undefined
  }
}

function openDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(FILES)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function filesOf(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return database.transaction(FILES, mode, { durability: 'strict' }).objectStore(FILES)
}

function keyOf(path: string): string {
  return namesOf(path).join('/')
}

/** The first key after all keys with this prefix, which ends with a slash; `0` is the character after the slash. */
function after(prefix: string): string {
  return `${prefix.slice(0, -1)}0`
}
