import type { ContextHandle, SessionHandle } from '../../pkg/peteos_session.js'
import { DisposedError, InvalidArgumentError } from '../errors.js'
import { readOptions } from '../read-options.js'
import { defaultStorage } from '../storage/default.js'
import { locked } from '../storage/locked.js'
import { checkStorage, type SessionStorage } from '../storage/storage.js'
import type { EncodingName } from '../generated/lists.js'
import { fromJsonText, toJsonText } from '../wasm/json-text.js'
import { init } from '../wasm/loading.js'
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

/** A session in a list: what its `session.json` says. */
export interface SessionSummary {
  readonly uuid: string
  readonly sessionDir: string
  readonly activeContextId: string | null
  readonly isActive: boolean
  readonly autoApproveTools: readonly string[]
  /** When it was last saved; `null` where the storage does not tell. */
  readonly modifiedAt: Date | null
}

/** A context that became a new one because somebody else had changed its file. */
export interface ForkedContext {
  /** The id of the context that the file holds, which this one had. */
  readonly originContextId: string
  /** The id that it has now. */
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
 */
export class Session {
  #handle: SessionHandle | null
  readonly #storage: SessionStorage
  readonly #state = new SessionState(() => this.#rust)
  /** The contexts that somebody holds, so that each is one object. */
  readonly #contexts = new Map<string, WeakRef<Context>>()
  #active: Context | null = null
  #dict: SessionDict | undefined
  #dictRevision = -1
  /** By the id of the hook. */
  readonly #hooks = new Map<string, { name: string; callback: HookCallback }>()
  /** Settled when no save is under way. */
  #saves: Promise<unknown> = Promise.resolve()

  private constructor(handle: SessionHandle, storage: SessionStorage) {
    this.#handle = handle
    this.#storage = storage
  }

  /**
   * A new session with a fresh active context. Nothing is written before {@link save}.
   *
   * @param parentDir The directory that holds the session's own.
   * @throws {InvalidMessageError} for a special message of the wrong shape.
   */
  static create(parentDir: string, options: SessionOptions = {}): NewSession {
    const { storage: given, ...specials } = readOptions(options, SESSION_OPTIONS, 'Session.create')
    const storage = storageOf(given)
    const [systemPrompt, toolDefinitions] = specialTexts(specials)
    const handle = rust().SessionHandle.create(parentDir, storage, systemPrompt, toolDefinitions)
    return new Session(handle, storage) as NewSession
  }

  /**
   * Loads the session of `parentDir/uuid` with its active context.
   *
   * @throws {SessionNotFoundError} when there is no `session.json`.
   * @throws {ContextNotFoundError} when the file of the active context is missing.
   * @throws {CorruptSessionError} when a file is no session or context; it is left as it is. Where that is the active
   * context, `options.activeContextId` opens the session with another one.
   * @throws {FileTooLargeError} when a file is larger than `options.maxFileBytes`.
   * @throws {InvalidArgumentError} for a uuid that is no plain file name.
   * @throws {StorageError} when the storage fails.
   */
  static async load(parentDir: string, uuid: string, options: LoadOptions = {}): Promise<Session> {
    const { storage: given, activeContextId, maxFileBytes } = readOptions(options, LOAD_OPTIONS, 'Session.load')
    const storage = storageOf(given)
    await init()
    const handle = await rust().SessionHandle.load(parentDir, uuid, storage, activeContextId, maxFileBytes)
    return new Session(handle, storage)
  }

  /**
   * Reports everything that is wrong with the directory of a session: damaged files, ids that point nowhere, counters that
   * lag, tool calls without results, leftovers. Reads all of its files, one at a time, and writes none. What each rule
   * means, and what {@link repair} does about it, is in docs/damage.md.
   *
   * @returns What was found; of a session that is as it should be, nothing.
   * @throws {SessionNotFoundError} when there is neither `session.json` nor the file of a context.
   * @throws {InvalidArgumentError} for a uuid that is no plain file name.
   * @throws {StorageError} when the storage cannot list the directory or read `session.json`; the file of a context that
   * it cannot read is a finding.
   */
  static async check(parentDir: string, uuid: string, options: ReadOptions = {}): Promise<SessionCheck> {
    const { storage: given, maxFileBytes } = readOptions(options, READ_OPTIONS, 'Session.check')
    const storage = storageOf(given)
    await init()
    return fromJsonText<SessionCheck>(await rust().checkSession(parentDir, uuid, storage, maxFileBytes))
  }

  /**
   * Mends what {@link check} calls `repairable`: what loses nothing that could be read before. Each file is copied before
   * it is changed, to `<name>.<time>.bak` beside it; the contexts are written first, `session.json` last. What is left is
   * in `check` of the result. Done again it finds nothing to do. No one else should save the session meanwhile; a file
   * that changes all the same is not touched.
   *
   * @throws {ConflictError} when somebody else changes a file meanwhile; what was done before stands.
   * @throws {SessionNotFoundError} as {@link check}.
   * @throws {InvalidArgumentError} as {@link check}.
   * @throws {StorageError} as {@link check}, and when it cannot write; what was done before stands, and another repair
   * goes on.
   */
  static async repair(parentDir: string, uuid: string, options: ReadOptions = {}): Promise<SessionRepair> {
    const { storage: given, maxFileBytes } = readOptions(options, READ_OPTIONS, 'Session.repair')
    const storage = storageOf(given)
    await init()
    return fromJsonText<SessionRepair>(await rust().repairSession(parentDir, uuid, storage, maxFileBytes))
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
    await init()
    const text = await rust().SessionHandle.list(parentDir, storage, onError, maxFileBytes)
    const summaries = JSON.parse(text) as (Omit<SessionSummary, 'modifiedAt'> & { modifiedAt: number | null })[]
    return summaries.map((summary) => ({
      ...summary,
      modifiedAt: summary.modifiedAt === null ? null : new Date(summary.modifiedAt),
    }))
  }

  /** The id, which the directory is named after. */
  get uuid(): string {
    return this.#rust.uuid
  }

  /** The directory of the session: `parentDir/uuid`. */
  get sessionDir(): string {
    return this.#rust.sessionDir
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
    const handle = this.#rust
    const active = this.#active
    if (active !== null && !active.isFreed && handle.isActiveContext(active.handle)) return active
    const current = handle.activeContext()
    this.#active = current === undefined ? null : this.#object(current)
    return this.#active
  }

  /** The id of the active context. */
  get activeContextId(): string | null {
    return this.#rust.activeContextId ?? null
  }

  /** The names of the tools that run without asking. Another list may be assigned. */
  get autoApproveTools(): readonly string[] {
    return this.rawDict.auto_approve_tools
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
    const handle = this.#rust
    const revision = handle.revision
    if (this.#dict === undefined || this.#dictRevision !== revision) {
      this.#dict = fromJsonText<SessionDict>(handle.dictText())
      this.#dictRevision = revision
    }
    return this.#dict
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
   * Writes every context that changed since the last save, then `session.json`; nothing when nothing changed. What is
   * written is the state at one moment: changes made meanwhile are for the next save. Saves of one session run one after
   * the other. Where the storage has locks a save holds that of the session's directory, so that nobody else writes
   * between the comparison with what is there and the last write.
   *
   * @throws {ConflictError} when somebody else has changed one of the files since this session read or wrote it; nothing
   * is written. With `onConflict: 'fork'` both are kept instead: a context whose file was changed becomes a new one of
   * this session, whose origin is the context that the file holds, and `session.json` gets the changes of both; then
   * there is a conflict only where both changed one variable of the state, or one setting, in different ways.
   * @throws {StorageError} when the storage fails, or its lock is not to be had in time (`ELOCKED`); what was not
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
      return locked(this.#storage, handle.sessionDir, () => handle.save(onConflict === 'fork') as Promise<string[]>)
    })
    this.#saves = save.catch(() => undefined)
    const forks = this.#forked(await save)
    return onConflict === 'fork' ? forks : undefined
  }

  /**
   * As {@link save}, done when it returns: for the event `exit` of Node, when no promise is awaited any more. A save that
   * is under way writes no more; what it had left is written here. No lock is waited for.
   *
   * @throws {ConflictError} as {@link save} does, where the adapter has `digestSync`.
   * @throws {StorageError} when the storage fails, or has no `writeSync`.
   */
  saveSync(): void {
    this.#rust.saveSync()
  }

  /**
   * A context of the session by its id; the same object as long as somebody holds it.
   *
   * @throws {ContextNotFoundError} when there is none.
   * @throws {CorruptSessionError} when its file is no context.
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
    const crossing = sequenceWindowOptions(options)
    return this.#windowed(this.#rust.rollingSequenceWindow(count, crossing))
  }

  /**
   * Applies {@link Context.rollingTokenWindow} to the active context.
   *
   * @returns The new active context; `null` when nothing was dropped or no context is active.
   */
  rollingTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): Context | null {
    const crossing = tokenWindowOptions(this.activeContext, options)
    return this.#windowed(this.#rust.rollingTokenWindow(maxTokens, encoding, crossing))
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
   * @throws {InvalidArgumentError} names the hook that returned something else than it has to.
   */
  async materialize(): Promise<void> {
    const ids: string[] = []
    const texts: string[] = []
    for (const [id, { name, callback }] of [...this.#hooks]) {
      const text = await callback()
      if (typeof text !== 'string') {
        throw new InvalidArgumentError(`${name}: this hook has to return a string, not ${typeof text}`, { argument: name })
      }
      ids.push(id)
      texts.push(text)
    }
    this.#rust.materialize(ids, texts)
  }

  /** The dict, for `JSON.stringify`. */
  toJSON(): SessionDict {
    return this.rawDict
  }

  /**
   * Gives the memory back now rather than when the object is collected; also by `using`. Starts no save, but those that
   * were asked for are carried out.
   */
  free(): void {
    const handle = this.#handle
    this.#handle = null
    this.#active = null
    if (handle !== null) void this.#saves.then(() => handle.free())
  }

  declare readonly [Symbol.dispose]: () => void

  /** Saves, then gives the memory back: `await using session = …` does so at the end of its block. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>

  get #rust(): SessionHandle {
    if (this.#handle === null) throw new DisposedError('session')
    return this.#handle
  }

  #windowed(handle: ContextHandle | undefined): Context | null {
    if (handle === undefined) return null
    this.#active = this.#object(handle)
    return this.#active
  }

  /** The forks that a save has made, given by two ids each; whoever holds such a context holds it by its new id. */
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

  /** The object of a context: the one that somebody holds, or a new one. */
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

makeDisposable(Session.prototype)
makeAsyncDisposable(Session.prototype)

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
