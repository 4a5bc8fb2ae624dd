import { constructing } from '../../caller-stack.js'
import { rust } from '../../wasm/runtime.js'
import type { SessionStorage } from '../storage.js'
import { type BrowserStorageOptions, checkedOptions } from './options.js'
import { namesOf } from './paths.js'
import { withWebLock } from './web-lock.js'

const TEMPORARY = /^\..+\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/

/** Temporary files that are older, in milliseconds, are leftovers of tabs that ended. */
const OLD = 60_000

/**
 * The most bytes of one `write()` call. Chromium sends them through a pipe of 2 MiB; when the quota ends while more wait
 * to be sent, it rejects with the `AbortError` of the broken pipe in place of the `QuotaExceededError`.
 */
const CHUNK = 256 * 1024

/** What the standard has, and some declarations lack. */
interface MovableFile extends FileSystemFileHandle {
  move?(name: string): Promise<void>
}

/**
 * Keeps files in the browser's origin private file system, which all tabs and workers of an origin share. A file that is
 * there is replaced by the browser when its new contents are written whole; a new one is written under another name and
 * then renamed. A write that fails or exceeds the quota rejects with the browser's error (`QuotaExceededError`), and the
 * old contents stand. How durable a write is, is the browser's business, and it may drop all files when space is short,
 * unless `navigator.storage.persist()` was granted.
 *
 * Needs a secure context, and an engine that has `FileSystemFileHandle.createWritable`.
 */
export class OPFSStorage implements SessionStorage {
  readonly #name: string
  readonly #lockTimeout: number

  /** Opens nothing yet. @throws {InvalidArgumentError} for an option that is not known, or of the wrong kind. */
  constructor(options: BrowserStorageOptions = {}) {
    const { name, lockTimeout } = constructing(OPFSStorage, () => checkedOptions(options, 'OPFSStorage'))
    this.#name = name
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` where there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return this.#alone(path, 'shared', async () => {
      const file = await this.#file(path)
      return file === null ? null : new Uint8Array(await file.arrayBuffer())
    })
  }

  /** Replaces a file as a whole. */
  async write(path: string, data: Uint8Array): Promise<void> {
    const { directory: names, name } = split(path)
    await this.#alone(path, 'exclusive', async () => {
      const directory = await this.#directory(names, true)
      const existing = await unlessAbsent(directory.getFileHandle(name), null)
      if (existing === null) await writeNew(directory, name, data)
      else await writeInto(existing, data)
    })
  }

  /** The names in a directory; none where it does not exist. */
  async list(directory: string): Promise<string[]> {
    const handle = await unlessAbsent(this.#directory(namesOf(directory), false), null)
    return handle === null ? [] : namesIn(handle)
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    const { directory, name } = split(path)
    await this.#alone(path, 'exclusive', () =>
      unlessAbsent(
        this.#directory(directory, false).then((handle) => handle.removeEntry(name)),
        undefined,
      ),
    )
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
   * lock of a tab that ends; temporary files that such a tab has left in the directory are removed when they are a
   * minute old. Rejects with the code `ELOCKED` when the lock is not to be had within `lockTimeout`.
   */
  async lock<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const names = namesOf(directory)
    return withWebLock(`OPFS ${this.#name} directory`, names.join('/'), this.#lockTimeout, async () => {
      const handle = await unlessAbsent(this.#directory(names, false), null)
      if (handle !== null) await removeLeftovers(handle)
      return work()
    })
  }

  /** When the file was written, in milliseconds since 1970; `null` where there is none. */
  async modifiedTime(path: string): Promise<number | null> {
    return this.#alone(path, 'shared', async () => (await this.#file(path))?.lastModified ?? null)
  }

  /**
   * Runs `work` while nobody writes the file, or nobody else does anything with it. The browser by itself refuses some
   * writes at the same time, and for a moment a file that is being replaced cannot be read.
   */
  #alone<T>(path: string, mode: LockMode, work: () => Promise<T>): Promise<T> {
    const name = `peteos-session OPFS ${this.#name} file ${namesOf(path).join('/')}`
    return navigator.locks.request(name, { mode }, work) as Promise<T>
  }

  async #file(path: string): Promise<File | null> {
    const { directory, name } = split(path)
    const find = async () => (await (await this.#directory(directory, false)).getFileHandle(name)).getFile()
    return unlessAbsent(find(), null)
  }

  async #directory(names: string[], create: boolean): Promise<FileSystemDirectoryHandle> {
    let directory = await navigator.storage.getDirectory()
    for (const name of [this.#name, ...names]) directory = await directory.getDirectoryHandle(name, { create })
    return directory
  }
}

function split(path: string): { directory: string[]; name: string } {
  const directory = namesOf(path)
  return { directory, name: directory.pop() ?? '' }
}

/** A file that is made where it is to be is there empty before it is written: it is made elsewhere. */
async function writeNew(directory: FileSystemDirectoryHandle, name: string, data: Uint8Array): Promise<void> {
  const temporary = `.${name}.${crypto.randomUUID()}.tmp`
  const file: MovableFile = await directory.getFileHandle(temporary, { create: true })
  try {
    await writeInto(file, data)
    if (file.move !== undefined) return await file.move(name)
  } catch (error) {
    await directory.removeEntry(temporary).catch(() => undefined)
    throw error
  }
  await directory.removeEntry(temporary)
  await writeInto(await directory.getFileHandle(name, { create: true }), data)
}

/** The browser writes to a copy, which replaces the file when the stream is closed. */
async function writeInto(file: FileSystemFileHandle, data: Uint8Array): Promise<void> {
  const stream = await file.createWritable()
  try {
    for (let start = 0; start < data.length; start += CHUNK) {
      await stream.write(data.subarray(start, start + CHUNK) as BufferSource)
    }
    await stream.close()
  } catch (error) {
    await stream.abort().catch(() => undefined)
    throw error
  }
}

async function removeLeftovers(directory: FileSystemDirectoryHandle): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (!TEMPORARY.test(name)) continue
    const file = await unlessAbsent(
      directory.getFileHandle(name).then((handle) => handle.getFile()),
      null,
    )
    if (file === null || Date.now() - file.lastModified < OLD) continue
    await directory.removeEntry(name).catch(() => undefined)
  }
}

async function namesIn(directory: FileSystemDirectoryHandle): Promise<string[]> {
  const names = []
  for await (const name of (directory as unknown as { keys(): AsyncIterable<string> }).keys()) names.push(name)
  return names
}

/** Gives `absent` where there is nothing, or something else than what is asked for, such as a file on the way. */
async function unlessAbsent<T, A>(operation: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await operation
  } catch (error) {
    if (['NotFoundError', 'TypeMismatchError'].includes((error as DOMException | null)?.name ?? '')) return absent
    throw error
  }
}
