import type { ContextHandle, SessionHandle } from '../../pkg/peteos_session.js'
import { wrapMethods } from '../caller-stack.js'
import { DisposedError, InvalidArgumentError } from '../errors.js'
import type { EncodingName } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import { defaultStorage } from '../storage/default.js'
import { locked, lockedSync } from '../storage/locked.js'
import { checkStorage, hasMethod, type SessionStorage } from '../storage/storage.js'
import { fromJsonText, toJsonText } from '../wasm/json-text.js'
import { ensureLoaded } from '../wasm/loading.js'
import { rust } from '../wasm/runtime.js'
import {
  type SequenceWindowOptions,
  sequenceWindowOptions,
  type TokenWindowOptions,
  tokenWindowOptions,
} from '../windows/options.js'
import { Context, handleOf, specialTexts } from './context.js'
import type { SessionDict } from './dicts.js'
import { makeAsyncDisposable, makeDisposable } from './dispose.js'
import type { SessionCheck, SessionRepair } from './findings.js'
import type { ListOptions, LoadOptions, ReadOptions, SaveOptions, SessionOptions } from './options.js'
import { SessionState } from './state.js'

/** A session in a list, as its `session.json` describes it. */
export interface SessionSummary {
  /** The id of the session. */
  readonly uuid: string
  /** The directory of the session: `parentDir/uuid`. */
  readonly sessionDir: string
  /** The id of the active context; `null` if there is none. */
  readonly activeContextId: string | null
  /** Whether a running agent uses the session. */
  readonly isActive: boolean
  /** The names of the tools that run without approval. */
  readonly autoApproveTools: readonly string[]
  /** When the session was last saved; `null` if the storage does not know. */
  readonly modifiedAt: Date | null
}

/** A context that became a new one because another writer had changed its file. */
export interface ForkedContext {
  /** The id that the context had, which is that of the context in the file. */
  readonly originContextId: string
  /** The id that the context has now. */
  readonly contextId: string
}

const SAVE_OPTIONS = ['onConflict'] as const
const READ_OPTIONS = ['storage', 'maxFileBytes'] as const
const LOAD_OPTIONS = ['storage', 'activeContextId', 'maxFileBytes'] as const
const LIST_OPTIONS = ['storage', 'onError', 'maxFileBytes'] as const
const SESSION_OPTIONS = ['systemPromptMessage', 'toolDefinitionsMessage', 'storage'] as const

/** A session that was just created, which has an active context. */
export type NewSession = Session & { readonly activeContext: Context }

/** Returns the text that a hook contributes to its messages. */
export type HookCallback = () => string | Promise<string>

/**
 * One interaction thread, kept as JSON in `parentDir/uuid`: `session.json` and a file for each context. The active
 * context is the message list that goes to a model.
 *
 * @example
 * ```ts
 * import { MemoryStorage, Message, Session, SystemPromptMessage } from 'peteos-session'
 *
 * const session = Session.create('agents/helper', {
 *   storage: new MemoryStorage(),
 *   systemPromptMessage: SystemPromptMessage.create('You are a careful assistant.'),
 * })
 * session.activeContext.append(Message.create('user', [{ type: 'text', text: 'Hello' }]))
 * session.rollingTokenWindow(4000, 'o200k_base', { boundary: 'turn' })
 * await session.save()
 * ```
 */
export class Session {
  #handle: SessionHandle | null
  readonly #storage: SessionStorage
  /** As the caller named it. */
  readonly #directory: string
  readonly #state = new SessionState(() => this.#rust)
  /** The contexts in use, so that each is one object. */
  readonly #contexts = new Map<string, WeakRef<Context>>()
  #active: Context | null = null
  #dict: SessionDict | undefined
  #dictRevision = -1
  /** By the id of the hook. */
  readonly #hooks = new Map<string, { name: string; callback: HookCallback }>()
  /** Settled when no save is under way. */
  #saves: Promise<unknown> = Promise.resolve()

  private constructor(handle: SessionHandle, storage: SessionStorage, directory: string) {
    this.#handle = handle
    this.#storage = storage
    this.#directory = directory
  }

  /**
   * Creates a session with an empty active context. Nothing is written before {@link save}.
   *
   * @param parentDir The directory in which the directory of the session is created.
   * @throws {InvalidMessageError} if a special message has the wrong shape.
   */
  static create(parentDir: string, options: SessionOptions = {}): NewSession {
    const { storage: given, ...specials } = readOptions(options, SESSION_OPTIONS, 'Session.create')
    const storage = storageOf(given)
    const [systemPrompt, toolDefinitions] = specialTexts(specials)
    const directory = lastingPath(storage, parentDir)
    const handle = rust().SessionHandle.create(directory, storage, systemPrompt, toolDefinitions)
    return new Session(handle, storage, rust().sessionDir(parentDir, handle.uuid)) as NewSession
  }

  /**
   * Loads the session in `parentDir/uuid` with its active context.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Session } from 'peteos-session'
   *
   * const storage = new MemoryStorage()
   * const created = Session.create('agents', { storage })
   * await created.save()
   * const session = await Session.load('agents', created.uuid, { storage })
   * console.log(session.activeContext?.messageCount)
   * ```
   *
   * @throws {SessionNotFoundError} if there is no `session.json`.
   * @throws {ContextNotFoundError} if the file of the active context is missing.
   * @throws {CorruptSessionError} if a file is not a valid session or context. The file is not changed. If it is the active
   * context, `options.activeContextId` opens the session with another one.
   * @throws {FileTooLargeError} if a file is larger than `options.maxFileBytes`.
   * @throws {InvalidArgumentError} if the uuid is not a plain file name.
   * @throws {StorageError} if the storage fails.
   */
  static async load(parentDir: string, uuid: string, options: LoadOptions = {}): Promise<Session> {
    const { storage: given, activeContextId, maxFileBytes } = readOptions(options, LOAD_OPTIONS, 'Session.load')
    const storage = storageOf(given)
    const directory = lastingPath(storage, parentDir)
    await ensureLoaded()
    const handle = await rust().SessionHandle.load(directory, uuid, storage, activeContextId, maxFileBytes)
    return new Session(handle, storage, rust().sessionDir(parentDir, uuid))
  }

  /**
   * Reports everything that is wrong with the directory of a session: damaged files, ids that point nowhere, counters that
   * lag, tool calls without results, leftovers. Reads all of its files, one at a time, and writes none. What each rule
   * means, and what {@link repair} does about it, is in docs/damage.md.
   *
   * @returns What was found; of a session that is as it should be, nothing.
   * @throws {SessionNotFoundError} when there is neither `session.json` nor the file of a context.
   * @throws {InvalidArgumentError} if the uuid is not a plain file name.
   * @throws {StorageError} when the storage cannot list the directory or read `session.json`; the file of a context that
   * it cannot read is a finding.
   */
  static async check(parentDir: string, uuid: string, options: ReadOptions = {}): Promise<SessionCheck> {
    const { storage: given, maxFileBytes } = readOptions(options, READ_OPTIONS, 'Session.check')
    const storage = storageOf(given)
    await ensureLoaded()
    return fromJsonText<SessionCheck>(await rust().checkSession(parentDir, uuid, storage, maxFileBytes))
  }

  /**
   * Repairs what {@link check} calls `repairable`, without losing anything that could be read before. Each file is copied before
   * it is changed, to `<name>.<time>.bak` beside it; the contexts are written first, `session.json` last. What is left is
   * in `check` of the result. Done again it finds nothing to do. Where the storage has locks it holds that of the session's
   * directory; a file that another writer changes all the same is not touched.
   *
   * @throws {ConflictError} if another writer changes a file meanwhile; earlier repairs are kept.
   * @throws {SessionNotFoundError} as {@link check}.
   * @throws {InvalidArgumentError} as {@link check}.
   * @throws {StorageError} as {@link check}; when it cannot read a context and `session.json` needs a repair, or reads
   * something else than the storage's digest says: nothing is written then. When it cannot write, what was done before
   * stands, and another repair goes on.
   * @throws {FileTooLargeError} likewise, if a context is larger than `options.maxFileBytes`.
   */
  static async repair(parentDir: string, uuid: string, options: ReadOptions = {}): Promise<SessionRepair> {
    const { storage: given, maxFileBytes } = readOptions(options, READ_OPTIONS, 'Session.repair')
    const storage = storageOf(given)
    await ensureLoaded()
    const text = await locked(storage, rust().sessionDir(parentDir, uuid), (lease) =>
      rust().repairSession(parentDir, uuid, storage, maxFileBytes, lease),
    )
    return fromJsonText<SessionRepair>(text)
  }

  /**
   * The sessions in a directory, newest first: by the day they were created, and within a day by when they were last
   * saved. Reads their `session.json` alone.
   */
  static async list(parentDir: string, options: ListOptions = {}): Promise<SessionSummary[]> {
    const read = readOptions(options, LIST_OPTIONS, 'Session.list')
    const { storage: given, onError = () => undefined, maxFileBytes } = read
    if (typeof onError !== 'function') {
      throw new InvalidArgumentError('options.onError: expected a function', { argument: 'options.onError' })
    }
    const storage = storageOf(given)
    await ensureLoaded()
    const text = await rust().SessionHandle.list(parentDir, storage, onError, maxFileBytes)
    const summaries = JSON.parse(text) as (Omit<SessionSummary, 'modifiedAt'> & { modifiedAt: number | null })[]
    return summaries.map((summary) => ({
      ...summary,
      modifiedAt: summary.modifiedAt === null ? null : new Date(summary.modifiedAt),
    }))
  }

  /** The id, which is also the name of the directory. */
  get uuid(): string {
    return this.#rust.uuid
  }

  /** The directory of the session: `parentDir/uuid`. */
  get sessionDir(): string {
    if (this.isFreed) throw new DisposedError('session')
    return this.#directory
  }

  /** The adapter that keeps the session. */
  get storage(): SessionStorage {
    return this.#storage
  }

  /** @internal */
  get isFreed(): boolean {
    return this.#handle === null
  }

  /** The active context; the same object until another one becomes active. */
  get activeContext(): Context | null {
    return this.#activeContext()
  }

  /** The id of the active context. */
  get activeContextId(): string | null {
    return this.#rust.activeContextId ?? null
  }

  /** The names of the tools that run without asking. Another list may be assigned. */
  get autoApproveTools(): readonly string[] {
    return this.#sessionDict().auto_approve_tools
  }

  set autoApproveTools(tools: readonly string[]) {
    this.#rust.setAutoApproveTools(tools)
  }

  /** Whether a running agent uses the session. */
  get isActive(): boolean {
    return this.#rust.isActive
  }

  set isActive(isActive: boolean) {
    this.#rust.setIsActive(isActive)
  }

  /** The key-value store of the session. */
  get state(): SessionState {
    return this.#state
  }

  /**
   * The dict, as `session.json` holds it: a frozen snapshot. Another one may be assigned: it is checked, has to have the
   * same uuid, and may name only a context that is loaded.
   *
   * @throws {InvalidArgumentError} on assignment; names the field at fault.
   */
  get rawDict(): SessionDict {
    return this.#sessionDict()
  }

  set rawDict(dict: object) {
    const text = toJsonText(dict, 'rawDict')
    this.#rust.setDict(text)
  }

  /**
   * Makes a context the active one. The one that was it is still written by the next {@link save}, if it changed. A
   * context made of a dict takes the place of the one with its id; if that has a file, it has to have been loaded.
   */
  setActiveContext(context: Context): void {
    this.#rust.setActiveContext(handleOf(context, 'context'))
    this.#remember(context)
    this.#active = context
  }

  /**
   * Writes every context that changed since the last save, then `session.json`; nothing if nothing changed. A save writes
   * the state of one moment: later changes are left to the next save. Saves of one session run one after the other. If the
   * storage has locks, a save holds the lock of the session's directory, so that no other writer can write between its
   * comparison with the files and its last write.
   *
   * @example
   * ```ts
   * import { ConflictError, MemoryStorage, Session } from 'peteos-session'
   *
   * const session = Session.create('agents', { storage: new MemoryStorage() })
   * session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
   * try {
   *   await session.save()
   * } catch (error) {
   *   if (!(error instanceof ConflictError)) throw error
   *   await session.save({ onConflict: 'fork' })
   * }
   * ```
   *
   * @throws {ConflictError} if another writer has changed one of the files since this session read or wrote it, or if one
   * that is needed was removed (`found` is `null`); nothing is written. With `onConflict: 'fork'` both are kept instead: a context whose file was changed becomes a new one of
   * this session, whose origin is the context that the file holds, and `session.json` gets the changes of both; then
   * there is a conflict only where both changed one variable of the state, or one setting, in different ways. What was
   * removed and is in memory is written again.
   * @throws {StorageError} when the storage fails, or its lock could not be acquired in time (`ELOCKED`); what was not
   * written is written by the next save.
   * @returns With `onConflict: 'fork'`, the contexts that became new ones.
   */
  async save(options: SaveOptions & { onConflict: 'fork' }): Promise<ForkedContext[]>
  async save(options?: SaveOptions): Promise<void>
  // biome-ignore lint/suspicious/noConfusingVoidType: only a save with `onConflict: 'fork'` has a result
  async save(options?: SaveOptions): Promise<ForkedContext[] | void> {
    const { onConflict = 'refuse' } = readOptions(options, SAVE_OPTIONS, 'save')
    if (onConflict !== 'refuse' && onConflict !== 'fork') {
      const argument = 'options.onConflict'
      throw new InvalidArgumentError(`${argument}: expected 'refuse' or 'fork'`, { argument })
    }
    const handle = this.#rust
    const save = this.#saves.then(async () => {
      if (!handle.hasChanges) return []
      const keepsBoth = onConflict === 'fork'
      for (;;) {
        const forks = await locked(this.#storage, handle.sessionDir, (lease) => {
          return handle.save(keepsBoth, lease) as Promise<string[] | undefined>
        })
        // Otherwise the lock was lost, and what is left is saved under the lock again.
        if (forks !== undefined) return forks
      }
    })
    this.#saves = save.catch(() => undefined)
    const forks = this.#forked(await save)
    return onConflict === 'fork' ? forks : undefined
  }

  /**
   * As {@link save}, done when it returns: for the event `exit` of Node, when no promise is awaited any more. A save of this
   * session that is under way writes no more; what it had left is written here. Where the storage has synchronous locks it
   * holds that of the session's directory, and waits for another process by blocking, for a short time; a save of another
   * object in this thread that is under way is overtaken, and rejects with a `ConflictError`.
   *
   * @throws {ConflictError} as {@link save} does, if the adapter has `digestSync`.
   * @throws {StorageError} if the storage fails, has no `writeSync`, or its lock could not be acquired in time (`ELOCKED`).
   */
  saveSync(): void {
    const handle = this.#rust
    if (handle.hasChanges) lockedSync(this.#storage, handle.sessionDir, (lease) => handle.saveSync(lease))
  }

  /**
   * Loads a context of the session by its id. It is the same object for as long as it is in use.
   *
   * @throws {ContextNotFoundError} if the session has no such context.
   * @throws {CorruptSessionError} if its file is not a valid context.
   */
  async loadContext(id: string): Promise<Context> {
    return this.#object(await this.#rust.loadContext(id))
  }

  /** The ids of the session's contexts, the active one's and unsaved ones' too, in ascending order. */
  async listContexts(): Promise<string[]> {
    return this.#rust.listContexts()
  }

  /**
   * Applies {@link Context.rollingSequenceWindow} to the active context.
   *
   * @returns The new active context; `null` when nothing was dropped or no context is active.
   */
  rollingSequenceWindow(count: number, options?: SequenceWindowOptions): Context | null {
    const wireOptions = sequenceWindowOptions(options)
    return this.#windowed(this.#rust.rollingSequenceWindow(count, wireOptions))
  }

  /**
   * Applies {@link Context.rollingTokenWindow} to the active context.
   *
   * @returns The new active context; `null` when nothing was dropped or no context is active.
   */
  rollingTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): Context | null {
    const wireOptions = tokenWindowOptions(this.#activeContext(), options)
    return this.#windowed(this.#rust.rollingTokenWindow(maxTokens, encoding, wireOptions))
  }

  /**
   * Makes a function contribute to the content of a message, at every {@link materialize}: its text to a system prompt;
   * to tool definitions as the hook `tool_list` the JSON array of the tools, as the hook `tool_filter` a JSON array of
   * regular expressions, of which a tool's whole name has to match one. Functions are not saved: after a load they are
   * registered again under the same names.
   *
   * @param message A message of the active context.
   * @param name Names the hook; the last function registered under a name is the one that is called.
   * @returns The id of the hook: the sha256 of its name.
   * @throws {InvalidArgumentError} for a message that the active context does not have.
   */
  registerHook(message: { readonly id: string }, name: string, callback: HookCallback): string {
    if (typeof callback !== 'function') {
      throw new InvalidArgumentError('callback: expected a function', { argument: 'callback' })
    }
    const messageId = idOf(message)
    const id = this.#rust.addHook(messageId, name)
    this.#hooks.set(id, { name, callback })
    return id
  }

  /**
   * Calls every hook and makes the content of the active context's messages with hooks of what they return. When one of
   * them fails nothing is changed.
   *
   * @throws {InvalidArgumentError} if a hook returns the wrong type; the message names the hook.
   */
  async materialize(): Promise<void> {
    const ids: string[] = []
    const texts: string[] = []
    for (const [id, { name, callback }] of [...this.#hooks]) {
      const text = await callback()
      if (typeof text !== 'string') {
        throw new InvalidArgumentError(`${name}: a hook must return a string, not ${typeof text}`, {
          argument: name,
        })
      }
      ids.push(id)
      texts.push(text)
    }
    this.#rust.materialize(ids, texts)
  }

  /** The dict, for `JSON.stringify`. */
  toJSON(): SessionDict {
    return this.#sessionDict()
  }

  /**
   * Releases the memory now instead of when the object is collected; `using` does so as well. It starts no save, but saves
   * that were started are completed.
   */
  free(): void {
    const handle = this.#handle
    this.#handle = null
    this.#active = null
    if (handle !== null) void this.#saves.then(() => handle.free())
  }

  /** As {@link free}. */
  declare readonly [Symbol.dispose]: () => void

  /** Saves, then releases the memory: `await using session = …` does so at the end of its block. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>

  get #rust(): SessionHandle {
    if (this.#handle === null) throw new DisposedError('session')
    return this.#handle
  }

  #activeContext(): Context | null {
    const handle = this.#rust
    const active = this.#active
    if (active !== null && !active.isFreed && handle.isActiveContext(active.handle)) return active
    const current = handle.activeContext()
    this.#active = current === undefined ? null : this.#object(current)
    return this.#active
  }

  #sessionDict(): SessionDict {
    const handle = this.#rust
    const revision = handle.revision
    if (this.#dict === undefined || this.#dictRevision !== revision) {
      this.#dict = fromJsonText<SessionDict>(handle.dictText())
      this.#dictRevision = revision
    }
    return this.#dict
  }

  #windowed(handle: ContextHandle | undefined): Context | null {
    if (handle === undefined) return null
    this.#active = this.#object(handle)
    return this.#active
  }

  /** The forks that a save has made, given by two ids each; a context in use gets its new id. */
  #forked(ids: string[]): ForkedContext[] {
    const forks: ForkedContext[] = []
    for (let index = 0; index + 1 < ids.length; index += 2) {
      const [originContextId, contextId] = ids.slice(index, index + 2) as [string, string]
      const context = this.#contexts.get(originContextId)
      this.#contexts.delete(originContextId)
      if (context !== undefined) this.#contexts.set(contextId, context)
      forks.push({ originContextId, contextId })
    }
    return forks
  }

  /** The object of a context: the one in use, or a new one. */
  #object(handle: ContextHandle): Context {
    const known = this.#contexts.get(handle.id)?.deref()
    if (known !== undefined && !known.isFreed && known.handle.is(handle)) {
      handle.free()
      return known
    }
    const context = Context.wrap(handle)
    this.#remember(context)
    return context
  }

  #remember(context: Context): void {
    for (const [id, reference] of this.#contexts) {
      if (reference.deref() === undefined) this.#contexts.delete(id)
    }
    this.#contexts.set(context.id, new WeakRef(context))
  }
}

wrapMethods(Session, ['isFreed'])
makeDisposable(Session.prototype)
makeAsyncDisposable(Session.prototype)

/** The parent directory of a session for the time that the session lives. */
function lastingPath(storage: SessionStorage, parentDir: string): string {
  if (typeof parentDir !== 'string' || !hasMethod(storage, 'absolutePath')) return parentDir
  return storage.absolutePath?.(parentDir) ?? parentDir
}

function storageOf(storage: SessionStorage | undefined): SessionStorage {
  return storage === undefined ? defaultStorage() : checkStorage(storage)
}

function idOf(message: unknown): unknown {
  try {
    return (message as { id?: unknown } | null | undefined)?.id
  } catch {
    return undefined
  }
}
