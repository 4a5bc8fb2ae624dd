import type { ContextHandle, SessionHandle } from '../../pkg/peteos_session.js'
import { wrapMethods } from '../caller-stack.js'
import {
  ConflictError,
  DisposedError,
  InvalidArgumentError,
  NoActiveContextError,
  type SessionError,
} from '../errors.js'
import type { EncodingName, ProviderName } from '../generated/lists.js'
import { Message } from '../messages/factories.js'
import type { SessionMessage, StoredMessage } from '../messages/message.js'
import { providers } from '../providers/loading.js'
import type { ProviderReplies } from '../providers/replies.js'
import { readOptions } from '../read-options.js'
import type {
  ClearMediaOptions,
  ClearThinkingOptions,
  ClearToolResultsOptions,
  DedupeToolResultsOptions,
  ElideOptions,
  EncodingOption,
  Policy,
  SummarizeOptions,
} from '../room/steps.js'
import { bounded, type WaitOptions } from '../storage/bounded.js'
import { defaultStorage } from '../storage/default.js'
import type { StorageLease } from '../storage/lease.js'
import { locked, lockedSync } from '../storage/locked.js'
import { OverlayStorage } from '../storage/overlay.js'
import { checkStorage, hasMethod, type SessionStorage } from '../storage/storage.js'
import { fromJsonText, toJsonText } from '../wasm/json-text.js'
import { ensureLoaded } from '../wasm/loading.js'
import { ensureMemory, withMemory } from '../wasm/memory.js'
import { rust } from '../wasm/runtime.js'
import { passText } from '../wasm/text.js'
import {
  type SequenceWindowOptions,
  sequenceWindowOptions,
  type TokenWindowOptions,
  tokenWindowOptions,
} from '../windows/options.js'
import { Context, type ContextOwner, type Fitted, handleOf, specialTexts } from './context.js'
import type { SessionDict } from './dicts.js'
import { makeAsyncDisposable, makeDisposable } from './dispose.js'
import type { SessionCheck, SessionRepair, SessionsCheck } from './findings.js'
import { FILE_LIMITS } from './limits.js'
import type { ListOptions, LoadOptions, ReadOptions, RepairOptions, SaveOptions, SessionOptions } from './options.js'
import { SessionState } from './state.js'
import type { SessionSummary } from './summary.js'
import { transcriptOf } from './transcript.js'

/** A context that got a new id because another writer had changed its file. */
export interface ForkedContext {
  /** The former id of the context, which the context in the file keeps. */
  readonly originContextId: string
  /** The new id of the context. */
  readonly contextId: string
}

const WAIT_OPTIONS = ['signal', 'timeout'] as const
const SAVE_OPTIONS = ['onConflict', ...FILE_LIMITS, ...WAIT_OPTIONS] as const
const READ_OPTIONS = ['storage', ...FILE_LIMITS, ...WAIT_OPTIONS] as const
const REPAIR_OPTIONS = [...READ_OPTIONS, 'dryRun', 'keepCopies'] as const
const LOAD_OPTIONS = [...READ_OPTIONS, 'activeContextId'] as const
const LIST_OPTIONS = [...READ_OPTIONS, 'onError', 'limit', 'after'] as const
const SESSION_OPTIONS = ['systemPromptMessage', 'toolDefinitionsMessage', 'storage', ...FILE_LIMITS] as const

/** How often an update is repeated after conflicts with writers that take no lock. */
const UPDATE_ATTEMPTS = 32

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
  /** As the caller specified it. */
  readonly #directory: string
  readonly #state = new SessionState(() => this.#rust)
  /** The contexts in use, so that each has only one object. */
  readonly #contexts = new Map<string, WeakRef<Context>>()
  #active: Context | null = null
  #dict: SessionDict | undefined
  #dictRevision = -1
  /** By hook id. */
  readonly #hooks = new Map<string, { name: string; callback: HookCallback }>()
  /** Settled when no save is in progress. */
  #saves: Promise<unknown> = Promise.resolve()

  /** What the contexts of the session ask; it does not keep the session in memory. */
  readonly #owner: ContextOwner = ownerOf(new WeakRef(this))

  /** The lock that {@link Session.update} holds for this session, and the storage for as long as the update lasts. */
  #held: { readonly storage: SessionStorage; readonly lease: StorageLease | undefined } | null = null

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
    const read = readOptions(options, SESSION_OPTIONS, 'Session.create')
    const { systemPromptMessage, toolDefinitionsMessage } = read
    const storage = storageOf(read.storage)
    const [systemPrompt, toolDefinitions] = specialTexts({ systemPromptMessage, toolDefinitionsMessage })
    const directory = lastingPath(storage, parentDir)
    const handle = rust().SessionHandle.create(directory, storage, systemPrompt, toolDefinitions, read)
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
   * @throws {FileTooLargeError} if a file exceeds `options.maxFileBytes` or `options.maxFileValues`.
   * @throws {InvalidArgumentError} if the uuid is not a plain file name.
   * @throws {StorageError} if the storage fails, or does not answer within `options.timeout` (`ETIMEDOUT`).
   */
  static async load(parentDir: string, uuid: string, options: LoadOptions = {}): Promise<Session> {
    const read = readOptions(options, LOAD_OPTIONS, 'Session.load')
    const { storage: given, activeContextId } = read
    const storage = storageOf(given)
    const directory = lastingPath(storage, parentDir)
    return bounded(
      storage,
      read,
      'load',
      () => `${parentDir}/${uuid}`,
      async (reader) => {
        await ensureLoaded()
        const load = () => rust().SessionHandle.load(directory, uuid, storage, reader, activeContextId, read)
        const handle = await withMemory(load)
        return new Session(handle, storage, rust().sessionDir(parentDir, uuid))
      },
    )
  }

  /**
   * Reports everything that is wrong with the directory of a session: damaged files, dangling ids, outdated counters, tool
   * calls without results, leftovers. It reads all files, one at a time, and writes none. docs/damage.md explains each rule
   * and what {@link repair} does about it.
   *
   * @returns The findings; there are none if the session is healthy.
   * @throws {SessionNotFoundError} if there is neither a `session.json` nor a context file.
   * @throws {InvalidArgumentError} if the uuid is not a plain file name.
   * @throws {StorageError} if the storage cannot list the directory or read `session.json`. A context file that it cannot
   * read is a finding.
   */
  static async check(parentDir: string, uuid: string, options: ReadOptions = {}): Promise<SessionCheck> {
    const read = readOptions(options, READ_OPTIONS, 'Session.check')
    const { storage } = read
    return bounded(
      storageOf(storage),
      read,
      'check',
      () => `${parentDir}/${uuid}`,
      async (storage) => {
        await ensureLoaded()
        const check = () => rust().checkSession(parentDir, uuid, storage, read)
        return fromJsonText<SessionCheck>(await withMemory(check))
      },
    )
  }

  /**
   * Checks all sessions in a directory, one at a time, and writes nothing. Besides the findings of {@link check} it reports
   * contexts that nothing names and, in directories without a session, the leftovers of a first save that was killed. A
   * session that the storage fails to read is a finding (`unreadable-file`) and does not hide the others.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Session } from 'peteos-session'
   *
   * const storage = new MemoryStorage()
   * const { checked, sessions } = await Session.checkAll('agents', { storage })
   * for (const { uuid, findings } of sessions) console.log(uuid, findings)
   * console.log(`${sessions.length} of ${checked} sessions have findings`)
   * ```
   *
   * @returns The sessions with findings.
   * @throws {StorageError} if the storage cannot list the directory, or does not answer within `options.timeout`.
   */
  static async checkAll(parentDir: string, options: ReadOptions = {}): Promise<SessionsCheck> {
    const read = readOptions(options, READ_OPTIONS, 'Session.checkAll')
    const { storage } = read
    return bounded(
      storageOf(storage),
      read,
      'check',
      () => parentDir,
      async (storage) => {
        await ensureLoaded()
        const check = () => rust().checkSessions(parentDir, storage, read)
        return fromJsonText<SessionsCheck>(await withMemory(check))
      },
    )
  }

  /**
   * Repairs the findings that {@link check} reports as `repairable`, without losing anything that could be read before. Each
   * file is copied to `<name>.<time>.bak` beside it before it is changed. Contexts are written first, `session.json` last. The
   * result includes a check of what remains. A second repair changes nothing. If the storage has locks, the repair holds the
   * lock of the session's directory. It never overwrites the change of another writer. With `dryRun: true` the result is the
   * same, but nothing is written and no lock is taken.
   *
   * @throws {ConflictError} if another writer changes a file during the repair. Earlier repairs are kept.
   * @throws {SessionNotFoundError} like {@link check}.
   * @throws {InvalidArgumentError} like {@link check}.
   * @throws {StorageError} like {@link check}. If a context cannot be read and `session.json` needs a repair, or if the bytes
   * read do not match the digest of the storage, nothing is written. If the storage cannot write, earlier repairs are kept;
   * another repair continues from there.
   * @throws {FileTooLargeError} if `session.json` needs a repair and a context exceeds a limit, or if a repaired file would
   * exceed one; nothing is written.
   */
  static async repair(parentDir: string, uuid: string, options: RepairOptions = {}): Promise<SessionRepair> {
    const read = readOptions(options, REPAIR_OPTIONS, 'Session.repair')
    const { storage, dryRun = false, keepCopies = 3 } = read
    if (typeof dryRun !== 'boolean') {
      throw new InvalidArgumentError('options.dryRun: expected true or false', { argument: 'options.dryRun' })
    }
    if (!Number.isInteger(keepCopies) || keepCopies < 1 || keepCopies > 1_000_000) {
      const argument = 'options.keepCopies'
      throw new InvalidArgumentError(`${argument}: expected an integer from 1 to 1000000`, { argument })
    }
    return bounded(
      storageOf(storage),
      read,
      'repair',
      () => `${parentDir}/${uuid}`,
      async (storage) => {
        await ensureLoaded()
        const sessionDir = rust().sessionDir(parentDir, uuid)
        const text = dryRun
          ? await rust().repairSession(parentDir, uuid, new OverlayStorage(storage), read, keepCopies, undefined)
          : await locked(storage, sessionDir, (lease) =>
              rust().repairSession(parentDir, uuid, storage, read, keepCopies, lease),
            )
        return fromJsonText<SessionRepair>(text)
      },
    )
  }

  /**
   * Loads the session in `parentDir/uuid`, changes it and saves it, all under the lock of the session's directory. Use it if
   * several writers change a session. If the storage has no locks, or another writer does not take them, a conflict at the
   * save is resolved by loading the session again and repeating the change.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Session } from 'peteos-session'
   *
   * const storage = new MemoryStorage()
   * const { uuid } = await savedSession()
   * const count = await Session.update('agents', uuid, (session) => {
   *   session.activeContext?.append({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
   *   return session.activeContext?.messageCount
   * }, { storage })
   * console.log(count) // 1
   *
   * async function savedSession() {
   *   const session = Session.create('agents', { storage })
   *   await session.save()
   *   return session
   * }
   * ```
   *
   * @param change Changes the session, which is released afterwards. If it throws, nothing more is saved. It runs again
   * after a conflict, and must not update the same session itself; a save in it uses the lock that is held.
   * @returns The result of `change`.
   * @throws {ConflictError} if other writers that take no lock changed the session at each of 32 attempts.
   * @throws {SessionNotFoundError} and the other errors of {@link load} and {@link save}, and what `change` throws. If the
   * update is given up while `change` runs, the lock is released and the session can no longer be saved.
   */
  static async update<T>(
    parentDir: string,
    uuid: string,
    change: (session: Session) => T | Promise<T>,
    options: LoadOptions = {},
  ): Promise<T> {
    const read = readOptions(options, LOAD_OPTIONS, 'Session.update')
    const { storage: given, activeContextId } = read
    if (typeof change !== 'function') {
      throw new InvalidArgumentError('change: expected a function', { argument: 'change' })
    }
    const storage = storageOf(given)
    const directory = lastingPath(storage, parentDir)
    return bounded(
      storage,
      read,
      'update',
      () => `${parentDir}/${uuid}`,
      async (bounded) => {
        await ensureLoaded()
        const sessionDir = rust().sessionDir(directory, uuid)
        for (let attempt = 1; ; attempt++) {
          const outcome = await locked(bounded, sessionDir, async (lease) => {
            const load = () => rust().SessionHandle.load(directory, uuid, bounded, bounded, activeContextId, read)
            const handle = await withMemory(load)
            const session = new Session(handle, storage, rust().sessionDir(parentDir, uuid))
            session.#held = { storage: bounded, lease }
            try {
              const result = await change(session)
              const conflict = await session.#saved()
              return { result, conflict }
            } finally {
              session.free()
            }
          })
          if (outcome.conflict === null) return outcome.result
          if (attempt === UPDATE_ATTEMPTS) throw outcome.conflict
        }
      },
    )
  }

  /**
   * Lists the sessions in a directory, newest first: by the day of their creation, and within a day by the time of their last
   * save. The day is that of the uuid, in the time zone of the process that created the session. A session that was last saved
   * while it was that day somewhere in the world is listed by the time of that save. Reads only their `session.json`.
   *
   * With `limit` the list ends after so many sessions, and only their files are read. Pass the last summary as `after` to get
   * the next ones. The pages have each session once that is neither removed nor saved in the meantime; a session that is saved
   * moves towards the front.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Session, type SessionSummary } from 'peteos-session'
   *
   * const storage = new MemoryStorage()
   * let after: SessionSummary | undefined
   * do {
   *   const page = await Session.list('agents', { storage, limit: 50, after })
   *   for (const { uuid } of page) console.log(uuid)
   *   after = page.at(-1)
   * } while (after !== undefined)
   * ```
   *
   * @throws {SessionNotFoundError} if `after` is the uuid of a session that does not exist any more. A summary is a place in
   * the list even if its session is gone.
   * @throws {StorageError} if the storage cannot list the directory.
   */
  static async list(parentDir: string, options: ListOptions = {}): Promise<SessionSummary[]> {
    const read = readOptions(options, LIST_OPTIONS, 'Session.list')
    const { storage, onError = () => undefined, limit, after } = read
    if (typeof onError !== 'function') {
      throw new InvalidArgumentError('options.onError: expected a function', { argument: 'options.onError' })
    }
    return bounded(
      storageOf(storage),
      read,
      'list',
      () => parentDir,
      async (storage) => {
        await ensureLoaded()
        let summaries: SessionSummary[] = []
        let errors: SessionError[] = []
        const onPage = (text: string) => {
          type Listed = Omit<SessionSummary, 'modifiedAt'> & { readonly modifiedAt: number | null }
          for (const { modifiedAt, ...summary } of JSON.parse(text) as Listed[]) {
            summaries.push({ ...summary, modifiedAt: modifiedAt === null ? null : new Date(modifiedAt) })
          }
        }
        const [uuid, time] = placeOf(after)
        const offset = utcOffset()
        const list = () => {
          summaries = []
          errors = []
          const onFailure = (error: SessionError) => errors.push(error)
          return rust().SessionHandle.list(parentDir, storage, read, offset, limit, uuid, time, onPage, onFailure)
        }
        await withMemory(list)
        for (const error of errors) onError(error)
        return summaries
      },
    )
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

  /** @internal */
  hasActive(context: ContextHandle): boolean {
    return this.#handle?.isActiveContext(context) === true
  }

  /** The active context; `null` if there is none. The same object is returned until another context becomes active. */
  get activeContext(): Context | null {
    return this.#activeContext()
  }

  /** The id of the active context; `null` if there is none. */
  get activeContextId(): string | null {
    return this.#rust.activeContextId ?? null
  }

  /** The names of the tools that run without approval. Assign another list to replace it. */
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
   * The dict, as `session.json` holds it: a frozen snapshot. Assign another one to replace it. It is validated, must have
   * the same uuid, and its active context must be loaded.
   *
   * @throws {InvalidArgumentError} on assignment, if a field is invalid; `argument` is its path.
   */
  get rawDict(): SessionDict {
    return this.#sessionDict()
  }

  set rawDict(dict: object) {
    const text = toJsonText(dict, 'rawDict')
    const handle = this.#rust
    handle.setDict(passText(text))
  }

  /**
   * Appends a message to the active context. After a window, {@link Session.activeContext} is another object: code that appends
   * here always writes where the model looks.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Message, Session } from 'peteos-session'
   *
   * const session = Session.create('agents', { storage: new MemoryStorage() })
   * session.append(Message.create('user', 'Hello'))
   * console.log(session.activeContext.messageCount) // 1
   * ```
   *
   * @param anchorPoint The name of the anchor. By default `'messages'`, the end of the conversation.
   * @returns The message as it is stored, with its id, time and sequence number.
   * @throws {InvalidMessageError} and {InvalidArgumentError} like {@link Context.append}.
   * @throws {NoActiveContextError} if no context is active.
   */
  append(message: SessionMessage, anchorPoint?: string): StoredMessage {
    const context = this.#activeContext()
    if (context === null) throw new NoActiveContextError()
    return context.append(message, anchorPoint)
  }

  /**
   * Appends what the call of a provider's API or SDK returned to the active context, whole: all of its messages, or none if
   * there is an error. Of several choices or candidates it appends the first. Tool calls are `pending`, and keep their ids. The last
   * message of the assistant gets a {@link ReplyMetadata} with the model, the usage and the reason for the stop.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Session } from 'peteos-session'
   *
   * const session = Session.create('agents', { storage: new MemoryStorage() })
   * const reply = {
   *   role: 'assistant' as const,
   *   content: [{ type: 'text', text: 'Hello.' }],
   *   stop_reason: 'end_turn',
   *   usage: { input_tokens: 9, output_tokens: 3 },
   * }
   * const [stored] = session.appendReply(reply, 'anthropic')
   * console.log(stored?.metadata?.stop_reason) // end_turn
   * ```
   *
   * @returns The messages as they are stored: one, or those of all steps of the AI SDK. None if the model finished without
   * saying anything.
   * @throws {InvalidArgumentError} if the reply is an error of the provider, is not complete, or has no content because it was
   * refused, blocked or cut off; `argument` is the path of the field that says so.
   * @throws {NoActiveContextError} if no context is active.
   * @throws {FileTooLargeError} if the file of the context would exceed a limit.
   */
  appendReply<P extends ProviderName>(reply: ProviderReplies[P], provider: P): StoredMessage[] {
    rust().expectString(provider, 'provider')
    const messages = providers().readReply(reply, provider, Message.create('assistant').id)
    const context = this.#activeContext()
    if (context === null) throw new NoActiveContextError()
    return context.appendAll(messages)
  }

  /**
   * All messages of the conversation so far, each once, from the oldest to the newest: those of the active context, of the
   * context that it was forked from, and so on. A window or an edit in a fork changes nothing here: a message is returned as
   * the oldest of these contexts has it. It ends at a context that was removed.
   *
   * @example
   * ```ts
   * import { MemoryStorage, Message, Session } from 'peteos-session'
   *
   * const session = Session.create('agents', { storage: new MemoryStorage() })
   * for (const text of ['one', 'two', 'three']) session.append(Message.create('user', text))
   * session.rollingSequenceWindow(1)
   * console.log(session.activeContext.messageCount, (await session.transcript()).length) // 1 3
   * ```
   *
   * @returns The messages, special ones included. There are none if no context is active.
   * @throws {CorruptSessionError} if the file of one of these contexts is not a valid context.
   * @throws {StorageError} if the storage fails, or does not answer within `options.timeout` (`ETIMEDOUT`).
   */
  async transcript(options?: WaitOptions): Promise<StoredMessage[]> {
    const active = this.#activeContext()
    return this.#within('transcript', options, async (storage) => {
      const load = async (id: string) => this.#object(await this.#rust.loadContext(id, storage))
      return active === null ? [] : transcriptOf(active, load)
    })
  }

  /**
   * Makes a context the active one. The next {@link save} still writes the previous one if it changed. A context made from
   * a dict replaces the one with its id, which must have been loaded if it has a file.
   */
  setActiveContext(context: Context): void {
    this.#rust.setActiveContext(handleOf(context, 'context'))
    this.#remember(context)
    this.#active = context
  }

  /**
   * Writes every context that changed since the last save, then `session.json`. Writes nothing if nothing changed. A save
   * writes the state at one moment; later changes are left to the next save. Saves of a session run one after the other. If
   * the storage has locks, a save holds the lock of the session's directory, so that no other writer can write between its
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
   * @throws {ConflictError} if another writer has changed one of the files since this session read or wrote it, or has removed
   * one that is needed (`found` is `null`); nothing is written. With `onConflict: 'fork'` both versions are kept instead: a
   * context whose file was changed gets a new id, and its origin is the context in the file; the changes to `session.json`
   * are merged; removed files are written again if they are in memory. Then only different changes to the same state variable
   * or setting are a conflict.
   * @throws {StorageError} if the storage fails, its lock could not be acquired in time (`ELOCKED`), or it does not answer
   * within `options.timeout` (`ETIMEDOUT`). The next save writes what was not written.
   * @returns With `onConflict: 'fork'`, the contexts that got new ids.
   */
  async save(options: SaveOptions & { onConflict: 'fork' }): Promise<ForkedContext[]>
  async save(options?: SaveOptions): Promise<void>
  // biome-ignore lint/suspicious/noConfusingVoidType: only a save with `onConflict: 'fork'` has a result
  async save(options?: SaveOptions): Promise<ForkedContext[] | void> {
    const read = readOptions(options, SAVE_OPTIONS, 'save')
    const { onConflict = 'refuse' } = read
    if (onConflict !== 'refuse' && onConflict !== 'fork') {
      const argument = 'options.onConflict'
      throw new InvalidArgumentError(`${argument}: expected 'refuse' or 'fork'`, { argument })
    }
    const handle = this.#rust
    handle.setLimits(read)
    const held = this.#held
    const forks = await bounded(
      held?.storage ?? this.#storage,
      read,
      'save',
      () => this.#directory,
      (storage) => {
        const save = this.#saves.then(async () => {
          if (!handle.hasChanges) return []
          const keepsBoth = onConflict === 'fork'
          for (;;) {
            const work = (lease?: StorageLease) =>
              withMemory(() => handle.save(keepsBoth, storage, lease) as Promise<string[] | undefined>)
            const forks = await (held === null ? locked(storage, handle.sessionDir, work) : work(held.lease))
            // Otherwise the lock was lost: acquire it again and save the rest.
            if (forks !== undefined) return this.#forked(forks)
          }
        })
        this.#saves = save.catch(() => undefined)
        return save
      },
    )
    return onConflict === 'fork' ? forks : undefined
  }

  /**
   * A synchronous {@link save}, for Node's `exit` event, after which no promise settles. It takes over the rest of a save of
   * this session that is in progress. If the storage has synchronous locks, it holds the lock of the session's directory: it
   * blocks briefly while another process holds it, and overtakes a save of another object in this thread, which then rejects
   * with a `ConflictError`.
   *
   * @throws {ConflictError} like {@link save}, if the adapter has `digestSync`.
   * @throws {StorageError} if the storage fails, has no `writeSync`, or its lock could not be acquired in time (`ELOCKED`).
   */
  saveSync(): void {
    const handle = this.#rust
    if (!handle.hasChanges) return
    const work = (lease?: StorageLease) => handle.saveSync(lease)
    if (this.#held !== null) work(this.#held.lease)
    else lockedSync(this.#storage, handle.sessionDir, work)
  }

  /**
   * Loads a context of the session by its id. The same object is returned for as long as it is in use.
   *
   * @throws {ContextNotFoundError} if the session has no such context.
   * @throws {CorruptSessionError} if its file is not a valid context.
   * @throws {StorageError} if the storage fails, or does not answer within `options.timeout` (`ETIMEDOUT`).
   */
  async loadContext(id: string, options?: WaitOptions): Promise<Context> {
    const load = (storage: SessionStorage) => withMemory(() => this.#rust.loadContext(id, storage))
    return this.#object(await this.#within('loadContext', options, load))
  }

  /**
   * The ids of all contexts of the session, saved or not, in ascending order.
   *
   * @throws {StorageError} like {@link loadContext}.
   */
  async listContexts(options?: WaitOptions): Promise<string[]> {
    return this.#within('listContexts', options, (storage) => this.#rust.listContexts(storage))
  }

  /**
   * Applies {@link Context.rollingSequenceWindow} to the active context.
   *
   * @returns The new active context; `null` if no message was dropped or no context is active.
   */
  rollingSequenceWindow(count: number, options?: SequenceWindowOptions): Context | null {
    const wireOptions = sequenceWindowOptions(options)
    return this.#windowed(this.#rust.rollingSequenceWindow(count, wireOptions))
  }

  /**
   * Applies {@link Context.rollingTokenWindow} to the active context.
   *
   * @returns The new active context; `null` if no message was dropped or no context is active.
   */
  rollingTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): Context | null {
    const wireOptions = tokenWindowOptions(this.#activeContext(), options)
    return this.#windowed(this.#rust.rollingTokenWindow(maxTokens, encoding, wireOptions))
  }

  /** Applies {@link Context.clearToolResults} to the active context. Returns the new active context, or `null`. */
  clearToolResults(options?: ClearToolResultsOptions): Context | null {
    return this.#activated(this.#activeContext()?.clearToolResults(options))
  }

  /** Applies {@link Context.clearThinking} to the active context. Returns the new active context, or `null`. */
  clearThinking(options?: ClearThinkingOptions): Context | null {
    return this.#activated(this.#activeContext()?.clearThinking(options))
  }

  /** Applies {@link Context.clearMedia} to the active context. Returns the new active context, or `null`. */
  clearMedia(options?: ClearMediaOptions): Context | null {
    return this.#activated(this.#activeContext()?.clearMedia(options))
  }

  /** Applies {@link Context.elide} to the active context. Returns the new active context, or `null`. */
  elide(options: ElideOptions): Context | null {
    return this.#activated(this.#activeContext()?.elide(options))
  }

  /** Applies {@link Context.dedupeToolResults} to the active context. Returns the new active context, or `null`. */
  dedupeToolResults(options?: DedupeToolResultsOptions): Context | null {
    return this.#activated(this.#activeContext()?.dedupeToolResults(options))
  }

  /** Applies {@link Context.summarize} to the active context. Returns the new active context; `null` if none is active. */
  summarize(options: SummarizeOptions): Context | null {
    return this.#activated(this.#activeContext()?.summarize(options))
  }

  /** Applies {@link Context.fit} to the active context; the fork becomes active. `null` if nothing changed or none is active. */
  fit(policy: Policy, options?: EncodingOption): Fitted | null {
    const fitted = this.#activeContext()?.fit(policy, options) ?? null
    this.#activated(fitted?.context)
    return fitted
  }

  /**
   * Registers a function that contributes to the content of a message at every {@link materialize}. For a system prompt it
   * returns a text. For tool definitions, the hook `tool_list` returns the tools as a JSON array, and the hook `tool_filter`
   * a JSON array of regular expressions, one of which must match the whole name of a tool. Functions are not saved: register
   * them again under the same names after a load.
   *
   * @param message A message of the active context.
   * @param name The name of the hook. A function registered later under the same name replaces this one.
   * @returns The id of the hook: the SHA-256 of its name.
   * @throws {InvalidArgumentError} if the active context does not have the message.
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
   * Calls every hook and sets the content of the active context's messages with hooks to what they return. If a hook fails,
   * nothing is changed.
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
    // Each text is copied, and becomes part of a message.
    ensureMemory(2 * texts.reduce((sum, text) => sum + text.length, 0))
    this.#rust.materialize(ids, texts)
  }

  /** The dict, for `JSON.stringify`. */
  toJSON(): SessionDict {
    return this.#sessionDict()
  }

  /**
   * Releases the memory now instead of when the object is collected, as `using` does. It does not save, but saves in progress
   * complete.
   */
  free(): void {
    const handle = this.#handle
    this.#handle = null
    this.#active = null
    if (handle !== null) void this.#saves.then(() => handle.free())
  }

  /** Same as {@link free}. */
  declare readonly [Symbol.dispose]: () => void

  /** Saves, then releases the memory: `await using session = …` does so at the end of its block. */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>

  get #rust(): SessionHandle {
    if (this.#handle === null) throw new DisposedError('session')
    return this.#handle
  }

  /** Runs work of a method with the storage, for no longer than the caller waits. */
  async #within<T>(
    method: string,
    options: WaitOptions | undefined,
    work: (storage: SessionStorage) => Promise<T>,
  ): Promise<T> {
    const read = readOptions(options, WAIT_OPTIONS, method)
    const storage = this.#held?.storage ?? this.#storage
    return bounded(storage, read, 'read', () => this.#directory, work)
  }

  /** Saves; resolves to the conflict that prevented it. */
  async #saved(): Promise<ConflictError | null> {
    try {
      await this.save()
      return null
    } catch (error) {
      if (error instanceof ConflictError) return error
      throw error
    }
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

  #activated(fork: Context | null | undefined): Context | null {
    if (fork) this.setActiveContext(fork)
    return fork ?? null
  }

  #windowed(handle: ContextHandle | undefined): Context | null {
    if (handle === undefined) return null
    this.#active = this.#object(handle)
    return this.#active
  }

  /** The forks of a save, from pairs of ids. Contexts in use are remembered by their new ids. */
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
    context.belongTo(this.#owner)
  }
}

wrapMethods(Session, ['isFreed', 'hasActive'])
makeDisposable(Session.prototype)
makeAsyncDisposable(Session.prototype)

function ownerOf(session: WeakRef<Session>): ContextOwner {
  return { hasActive: (context) => session.deref()?.hasActive(context) === true }
}

/** The parent directory in a form that stays valid for the lifetime of the session. */
function lastingPath(storage: SessionStorage, parentDir: string): string {
  if (typeof parentDir !== 'string' || !hasMethod(storage, 'absolutePath')) return parentDir
  return storage.absolutePath?.(parentDir) ?? parentDir
}

/** The place of a summary in a list: its uuid, and its time, which is `undefined` if only the uuid is known. */
function placeOf(after: ListOptions['after']): [uuid: unknown, time: number | null | undefined] {
  if (typeof after !== 'object' || after === null) return [after, undefined]
  const { uuid, modifiedAt } = after
  const time = modifiedAt === null ? null : Number(modifiedAt)
  if (!Number.isNaN(time)) return [uuid, time]
  throw new InvalidArgumentError('options.after: expected a summary or the uuid of a session', {
    argument: 'options.after',
  })
}

/** How far local time is ahead of UTC, in milliseconds. */
function utcOffset(): number {
  const minutes = -new Date().getTimezoneOffset()
  return Math.max(-12 * 60, Math.min(minutes, 14 * 60)) * 60_000 || 0
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
