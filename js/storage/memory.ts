import type { SessionStorage } from './storage.js'

/** Keeps files in memory: for tests, previews, and where nothing is to last. */
export class MemoryStorage implements SessionStorage {
  readonly #files = new Map<string, { data: Uint8Array; modifiedTime: number }>()

  /** A copy of the contents; `null` where there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return this.#files.get(path)?.data.slice() ?? null
  }

  /** Keeps a copy of the contents. */
  async write(path: string, data: Uint8Array): Promise<void> {
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

  /** Forgets a file, if it is there. */
  async remove(path: string): Promise<void> {
    this.#files.delete(path)
  }

  /** The SHA-256 of the contents, where the engine has WebCrypto. */
  async digest(path: string): Promise<string | null | undefined> {
    const file = this.#files.get(path)
    if (file === undefined) return null
    // Browsers have it in secure contexts alone.
    const hash = await globalThis.crypto?.subtle?.digest('SHA-256', file.data as BufferSource)
    return hash && Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  /** When the file was written, in milliseconds since 1970. */
  async modifiedTime(path: string): Promise<number | null> {
    return this.#files.get(path)?.modifiedTime ?? null
  }
}
