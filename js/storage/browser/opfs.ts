import { constructing } from '../../caller-stack.js'
import { rust } from '../../wasm/runtime.js'
import type { StorageLease } from '../lease.js'
import type { AbortSignalLike } from '../signal.js'
import type { SessionStorage } from '../storage.js'
import { type BrowserStorageOptions, checkedOptions } from './options.js'
import { namesOf } from './paths.js'
import { withWebLock } from './web-lock.js'

const TEMPORARY = /^\..+\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/

/** Temporary files older than this, in milliseconds, are leftovers of closed tabs. */
const OLD = 60_000

/**
 * The most bytes to pass to one `write()` call. Chromium sends them through a pipe of 2 MiB. If the quota is exceeded while
 * more bytes wait for the pipe, it rejects with the `AbortError` of the broken pipe instead of a `QuotaExceededError`.
 */
const CHUNK = 256 * 1024

/** A method that some engines and type declarations lack. */
interface MovableFile extends FileSystemFileHandle {
  move?(name: string): Promise<void>
}

/**
 * Keeps files in the browser's origin private file system, which all tabs and workers of an origin share. The browser
 * replaces an existing file once its new contents are complete; a new file is written under another name and then renamed. A
 * write that fails or exceeds the quota rejects with the browser's error (`QuotaExceededError`), and the file keeps its old
 * contents. The durability of a write depends on the browser, which may delete all files when space is short, unless
 * `navigator.storage.persist()` was granted.
 *
 * Needs a secure context, and an engine with `FileSystemFileHandle.createWritable`.
 *
 * @example
 * ```ts no-run
 * import { init, Session } from 'peteos-session'
 * import { OPFSStorage } from 'peteos-session/browser-storage'
 *
 * await init()
 * const storage = new OPFSStorage({ name: 'my-app' })
 * const session = Session.create('sessions', { storage })
 * await session.save()
 * ```
 */
export class OPFSStorage implements SessionStorage {
  readonly #name: string
  readonly #lockTimeout: number

  /** Opens nothing yet. @throws {InvalidArgumentError} if an option is unknown or invalid. */
  constructor(options: BrowserStorageOptions = {}) {
    const { name, lockTimeout } = constructing(OPFSStorage, () => checkedOptions(options, 'OPFSStorage'))
    this.#name = name
    this.#lockTimeout = lockTimeout
  }

  /** The contents of a file; `null` if there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return this.#alone(path, 'shared', async () => {
      const file = await this.#file(path)
      return file === null ? null : new Uint8Array(await file.arrayBuffer())
    })
  }

  /** Replaces a file as a whole. */
  async write(path: string, data: Uint8Array, lease?: StorageLease): Promise<void> {
    const { directory: names, name } = split(path)
    await this.#alone(path, 'exclusive', async () => {
      const directory = await this.#directory(names, true)
      const existing = await unlessAbsent(directory.getFileHandle(name), null)
      if (existing === null) await writeNew(directory, name, data, lease)
      else await writeInto(existing, data, lease)
    })
  }

  /** The names in a directory; an empty list if it does not exist. */
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
   * of a tab that is closed; temporary files that it left in the directory are removed once they are a minute old. Rejects
   * with the code `ELOCKED` if the lock could not be acquired within `lockTimeout`.
   */
  async lock<T>(
    directory: string,
    work: () => Promise<T>,
    { signal }: { readonly signal?: AbortSignalLike } = {},
  ): Promise<T> {
    const names = namesOf(directory)
    const held = async () => {
      const handle = await unlessAbsent(this.#directory(names, false), null)
      if (handle !== null) await removeLeftovers(handle)
      return work()
    }
    return withWebLock(`OPFS ${this.#name} directory`, names.join('/'), this.#lockTimeout, held, signal)
  }

  /** The time of the last write in milliseconds since 1970; `null` if there is no file. */
  async modifiedTime(path: string): Promise<number | null> {
    return this.#alone(path, 'shared', async () => (await this.#file(path))?.lastModified ?? null)
  }

  /**
   * Runs `work` while nothing else writes the file (`'shared'`) or uses it at all (`'exclusive'`). Without this, the browser
   * refuses some concurrent writes, and a file cannot be read for a moment while it is replaced.
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

/** A file is empty between its creation and its first write, so it is created under a temporary name. */
async function writeNew(
  directory: FileSystemDirectoryHandle,
  name: string,
  data: Uint8Array,
  lease: StorageLease | undefined,
): Promise<void> {
  const temporary = `.${name}.${crypto.randomUUID()}.tmp`
  const file: MovableFile = await directory.getFileHandle(temporary, { create: true })
  try {
    await writeInto(file, data, lease)
    if (file.move !== undefined) return await file.move(name)
  } catch (error) {
    await directory.removeEntry(temporary).catch(() => undefined)
    throw error
  }
  await directory.removeEntry(temporary)
  await writeInto(await directory.getFileHandle(name, { create: true }), data, lease)
}

/** The browser writes to a copy, which replaces the file when the stream is closed. */
async function writeInto(file: FileSystemFileHandle, data: Uint8Array, lease: StorageLease | undefined): Promise<void> {
  const stream = await file.createWritable()
  try {
    for (let start = 0; start < data.length; start += CHUNK) {
      await stream.write(data.subarray(start, start + CHUNK) as BufferSource)
    }
    lease?.check()
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

/** Returns `absent` if there is no such entry, or one of the wrong kind, such as a file in place of a directory. */
async function unlessAbsent<T, A>(operation: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await operation
  } catch (error) {
    if (['NotFoundError', 'TypeMismatchError'].includes((error as DOMException | null)?.name ?? '')) return absent
    throw error
  }
}
