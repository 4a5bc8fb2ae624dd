import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { SessionStorage } from './storage.js'

/** Options of {@link NodeFileStorage}. */
export interface NodeFileStorageOptions {
  /**
   * The directory that paths are relative to, and that none may lead out of by its names; symbolic links are followed.
   * Without it paths are used as they are.
   */
  root?: string
}

/**
 * Keeps files in Node's file system. A write makes a temporary file beside the target, syncs it to disk, renames it over
 * the target and syncs the directory: at any time the file is the old one or the new one, and once `write` is resolved
 * the new one survives a crash. When a write fails the old file stands and the temporary one is removed.
 */
export class NodeFileStorage implements SessionStorage {
  readonly #root: string | undefined

  constructor(options: NodeFileStorageOptions = {}) {
    this.#root = options.root === undefined ? undefined : resolve(options.root)
  }

  /** The contents of a file; `null` where there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return unlessAbsent(readFile(this.#resolve(path)), null)
  }

  /** Replaces a file, atomically and durably. */
  async write(path: string, data: Uint8Array): Promise<void> {
    const target = this.#resolve(path)
    const directory = dirname(target)
    await makeDirectory(directory)
    // Each write has a name of its own, so that two never share a file; the dot keeps it out of lists.
    const temporary = join(directory, `.${basename(target)}.${process.pid}.${crypto.randomUUID()}.tmp`)
    try {
      await writeSynced(temporary, data, await modeOf(target))
      await rename(temporary, target)
    } catch (error) {
      await unlessAbsent(unlink(temporary), undefined).catch(() => undefined)
      throw error
    }
    await syncDirectory(directory)
  }

  /** The names in a directory; none where it does not exist. */
  async list(directory: string): Promise<string[]> {
    return unlessAbsent(readdir(this.#resolve(directory)), [])
  }

  /** Removes a file, if it is there. */
  async remove(path: string): Promise<void> {
    await unlessAbsent(unlink(this.#resolve(path)), undefined)
  }

  /** The SHA-256 of the contents; `null` where there is no file. */
  async digest(path: string): Promise<string | null> {
    const contents = await this.read(path)
    // Loading the module takes longer than anything else at the start, and is not needed then.
    const { createHash } = await import('node:crypto')
    return contents === null ? null : createHash('sha256').update(contents).digest('hex')
  }

  /** When the file was written, in milliseconds since 1970; `null` where there is none. */
  async modifiedTime(path: string): Promise<number | null> {
    return unlessAbsent(stat(this.#resolve(path)).then((file) => file.mtimeMs), null)
  }

  #resolve(path: string): string {
    if (this.#root === undefined) return path
    const target = resolve(this.#root, path)
    const inside = relative(this.#root, target)
    if (inside === '..' || inside.startsWith(join('..', '/')) || isAbsolute(inside)) {
      throw Object.assign(new Error(`${path} is outside of ${this.#root}`), { code: 'EACCES' })
    }
    return target
  }
}

async function unlessAbsent<T, A>(operation: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await operation
  } catch (error) {
    // ENOTDIR: what should be a directory on the way is a file.
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return absent
    throw error
  }
}

/** The permissions that a file has, so that the one that replaces it gets them too; `null` where there is none. */
async function modeOf(path: string): Promise<number | null> {
  return unlessAbsent(stat(path).then((file) => file.mode & 0o777), null)
}

async function writeSynced(path: string, data: Uint8Array, mode: number | null): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode ?? 0o666)
  await closing(file, async () => {
    // Of a mode to create with, the process's mask takes permissions away.
    if (mode !== null) await file.chmod(mode)
    await file.writeFile(data)
    await file.sync()
  })
}

async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined) return
  // The entries of new directories are durable once the directories that hold them are synced.
  for (let made = directory; ; made = dirname(made)) {
    await syncDirectory(dirname(made))
    if (made === first || made === dirname(made)) return
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such operation: there a rename is as durable as it gets.
  if (process.platform === 'win32') return
  const handle = await open(directory, constants.O_RDONLY)
  await closing(handle, () => handle.sync())
}

async function closing(file: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } finally {
    await file.close()
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | null)?.code ?? '')
}
