import { hasMethod, type SessionStorage } from './storage.js'

/**
 * A storage as it would be after changes that are kept in memory: nothing is written to the one below.
 * @internal
 */
export class OverlayStorage implements SessionStorage {
  readonly #below: SessionStorage
  /** The changed files by their paths; `null` for one that was removed. */
  readonly #changed = new Map<string, Uint8Array | null>()

  constructor(below: SessionStorage) {
    this.#below = below
  }

  read(path: string): Promise<Uint8Array | null> | Uint8Array | null {
    const changed = this.#changed.get(path)
    return changed === undefined ? this.#below.read(path) : (changed?.slice() ?? null)
  }

  write(path: string, data: Uint8Array): void {
    this.#changed.set(path, data.slice())
  }

  async list(directory: string): Promise<string[]> {
    const names = new Set(await this.#below.list(directory))
    const prefix = `${directory}/`
    for (const [path, data] of this.#changed) {
      if (!path.startsWith(prefix)) continue
      const name = path.slice(prefix.length)
      if (data === null) names.delete(name)
      else names.add(name)
    }
    return [...names]
  }

  remove(path: string): void {
    this.#changed.set(path, null)
  }

  digest(path: string): Promise<string | null | undefined> | string | null | undefined {
    return this.#changed.has(path) || !hasMethod(this.#below, 'digest') ? undefined : this.#below.digest?.(path)
  }

  modifiedTime(path: string): Promise<number | null> | number | null {
    if (this.#changed.has(path) || !hasMethod(this.#below, 'modifiedTime')) return null
    return this.#below.modifiedTime?.(path) ?? null
  }
}
