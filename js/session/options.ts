import type { SessionError } from '../errors.js'
import type { WaitOptions } from '../storage/bounded.js'
import type { SessionStorage } from '../storage/storage.js'
import type { SpecialMessages } from './context.js'
import type { FileLimits } from './limits.js'
import type { SessionSummary } from './summary.js'

/** Where a session is stored. */
export interface StorageOptions {
  /** By default the file system in Node, and a shared in-memory store elsewhere. */
  storage?: SessionStorage
}

/** Options of {@link Session.create}. */
export interface SessionOptions extends StorageOptions, SpecialMessages, FileLimits {}

/** Options of functions that read the files of a session. */
export interface ReadOptions extends StorageOptions, FileLimits, WaitOptions {}

/** Options of {@link Session.repair}. */
export interface RepairOptions extends ReadOptions {
  /** Writes nothing, and returns what a repair would do, with the check of the session after it. By default `false`. */
  dryRun?: boolean
  /** How many copies of each file are kept when a repair makes a copy; the oldest are removed. At least 1; by default 3. */
  keepCopies?: number
}

/** Options of {@link Session.load}. */
export interface LoadOptions extends ReadOptions {
  /**
   * The context to activate instead of the one that `session.json` names, which is then not read. Use it to open a session
   * whose active context is damaged. With `null` no context is read, and {@link Session.activeContext} is `null` until one
   * is activated. `session.json` itself changes when a change is saved.
   */
  activeContextId?: string | null
}

/** Options of {@link Session.list}. */
export interface ListOptions extends ReadOptions {
  /** How many sessions are listed at most. By default all. */
  limit?: number
  /**
   * Where the list begins: after this session, the last one of the page before. A summary also works if its session was
   * removed or saved since; the uuid of a session stands for its present place.
   */
  after?: SessionSummary | string | undefined
  /** Called with the error of each session that cannot be read; such sessions are left out of the list. */
  onError?: (error: SessionError) => void
}

/**
 * Options of {@link Session.save}. Limits replace those of the session; by default they are those with which it was created or
 * loaded.
 */
export interface SaveOptions extends FileLimits, WaitOptions {
  /** What a save does if another writer changed a file: `'refuse'` (the default) with a `ConflictError`, or `'fork'`. */
  onConflict?: 'refuse' | 'fork'
}
