import { MemoryStorage } from './memory.js'
import type { SessionStorage } from './storage.js'

/** The default of the platform, such as the file system. */
let provided: SessionStorage | undefined
let memory: MemoryStorage | undefined

/**
 * The storage of sessions that were given none: the one that the entry point provides, or one in memory.
 * @internal
 */
export function defaultStorage(): SessionStorage {
  return provided ?? (memory ??= new MemoryStorage())
}

/**
 * Sets the default storage, unless an entry point has set it already.
 * @internal
 */
export function provideDefaultStorage(storage: SessionStorage): void {
  provided ??= storage
}
