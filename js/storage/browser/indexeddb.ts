import { constructing } from '../../caller-stack.js'
import { rust } from '../../wasm/runtime.js'
import type { SessionStorage } from '../storage.js'
import { type BrowserStorageOptions, checkedOptions } from './options.js'
import { namesOf } from './paths.js'
import { withWebLock } from './web-lock.js'

const FILES = 'files'

/** What the object store has for each path. */
interface StoredFile {
  data: Uint8Array
  modifiedTime: number
}

/**
 * Keeps files in a database of the browser, IndexedDB, which all tabs and workers of an origin share. Each write is one
 * transaction of strict durability: it is there as a whole or not at all, and once it is resolved it survives a crash as
 * far as the browser can tell. A write that exceeds the quota rejects with the browser's `QuotaExceededError`, and the
 * old contents stand. The browser may drop the whole database when space is short, unless `navigator.storage.persist()`
 * was granted.
 */
export class IndexedDBStorage implements SessionStorage {
  readonly #name: string
  readonly #lockTimeout: number
  #database: Promise<IDBDatabase> | undefined

  /** Opens nothing yet. @throws {InvalidArgumentError} for an option that is not known, or of the wrong kind. */
  constructor(options: BrowserStorageOptions = {}) {
    const { name, lockTimeout } = constructing(IndexedDBStorage, () => checkedOptions(options, 'IndexedDBStorage'))
    this.#name = name
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` where there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return (await this.#get(path))?.data ?? null
  }

  /** Replaces a file, in one transaction. */
  async write(path: string, data: Uint8Array): Promise<void> {
    // What is stored is a copy, but of the whole buffer that an array is a part of.
    const file: StoredFile = { data: data.slice(), modifiedTime: Date.now() }
    await this.#change((files) => files.put(file, keyOf(path)))
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
        // The rest of a directory is passed over.
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
   * The SHA-256 of the contents; `null` where there is no file.
   *
   * @throws {NotInitializedError} before `init()`.
   */
  async digest(path: string): Promise<string | null> {
    const data = await this.read(path)
    return data === null ? null : rust().sha256(data)
  }

  /**
   * Runs `work` while no other tab or worker of the origin holds the lock of the directory. The browser releases the
   * lock of a tab that ends. In a page that is no secure context, where there are no such locks, it is one of this tab
   * alone. Rejects with the code `ELOCKED` when the lock is not to be had within `lockTimeout`.
   */
  async lock<T>(directory: string, work: () => Promise<T>): Promise<T> {
    return withWebLock(`IndexedDB ${this.#name}`, namesOf(directory).join('/'), this.#lockTimeout, work)
  }

  /** When the file was written, in milliseconds since 1970; `null` where there is none. */
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
      // It is done when the transaction is, not when the request is.
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
      // The connection was closed since it was opened.
      this.#database = undefined
      return filesOf(await this.#open(), mode)
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#database ??= openDatabase(this.#name).then(
      (database) => {
        // Who wants to delete the database must not wait for this connection.
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

/** The first key after all those that start with this, which ends with a slash: `0` is the character after that. */
function after(prefix: string): string {
  return `${prefix.slice(0, -1)}0`
}
