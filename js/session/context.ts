import type { ContextHandle } from '../../pkg/peteos_session.js'
import { wrapMethods } from '../caller-stack.js'
import { DisposedError, InvalidArgumentError } from '../errors.js'
import type { EncodingName, StepKind } from '../generated/lists.js'
import type { SessionMessage, SpecialMessage, StoredMessage } from '../messages/message.js'
import { readOptions } from '../read-options.js'
import {
  type ClearMediaOptions,
  type ClearThinkingOptions,
  type ClearToolResultsOptions,
  type DedupeToolResultsOptions,
  type ElideOptions,
  type EncodingOption,
  type Policy,
  policyArguments,
  type StepReport,
  type SummarizeOptions,
  stepArguments,
} from '../room/steps.js'
import type { CountingOptions } from '../tokens/counting.js'
import { copyJson, deepFreeze, fillIn, fromJsonText, toJsonText } from '../wasm/json-text.js'
import { ensureMemory } from '../wasm/memory.js'
import { rust } from '../wasm/runtime.js'
import { passText } from '../wasm/text.js'
import {
  type SequenceWindowOptions,
  sequenceWindowOptions,
  type TokenWindowOptions,
  tokenCountOptions,
  tokenWindowOptions,
} from '../windows/options.js'
import { reportOf, type TokenWindowReport, type WindowReport } from '../windows/report.js'
import type { AnchorPoint, ContextDict } from './dicts.js'
import { makeDisposable } from './dispose.js'
import { FILE_LIMITS, type FileLimits } from './limits.js'
import { MessageSnapshots } from './message-snapshots.js'

/** The special messages of a new context or a fork. Every window keeps them. */
export interface SpecialMessages {
  /** The system prompt. By default a new context has none, and a fork keeps that of its origin. */
  systemPromptMessage?: SpecialMessage | null
  /** The tools that the model may call. By default a new context has none, and a fork keeps those of its origin. */
  toolDefinitionsMessage?: SpecialMessage | null
}

/** Options of {@link Context.create}. */
export interface ContextOptions extends SpecialMessages, FileLimits {
  /** The context whose content map is copied. By default the map is empty. */
  parentContext?: Context | null
}

/** Options of {@link Context.fork}. */
export interface ForkOptions extends SpecialMessages {
  /** The first sequence number; a negative one counts back from the next. By default 0. */
  start?: number
  /** The sequence number after the last; a negative one counts back from the next. By default the next. */
  end?: number
}

/** Options of {@link Context.addAnchor}. */
export interface AnchorOptions {
  /** Whether the anchor comes after others at the same position (`true`, the default) or before them. */
  afterExisting?: boolean
}

/** A fork that fits a policy. */
export interface Fitted {
  /** The fork. */
  readonly context: Context
  /** A report of each step that changed something, in order. */
  readonly reports: readonly StepReport[]
}

/**
 * The session that a context belongs to.
 * @internal
 */
export interface ContextOwner {
  hasActive(context: ContextHandle): boolean
}

const SPECIAL_MESSAGES = ['systemPromptMessage', 'toolDefinitionsMessage'] as const
const CONTEXT_OPTIONS = [...SPECIAL_MESSAGES, 'parentContext', ...FILE_LIMITS] as const
const FORK_OPTIONS = [...SPECIAL_MESSAGES, 'start', 'end'] as const

/**
 * A list of messages in display order: what goes to a model. Anchors name the places where messages are appended.
 *
 * Messages and dicts are deeply frozen snapshots, and the same objects until the next change. Use the methods to change a
 * context.
 */
export class Context {
  #handle: ContextHandle | null
  readonly #messages = new MessageSnapshots()
  /** The dict with an empty list of messages. */
  #fields: ContextDict | undefined
  #fieldsRevision = -1
  #dict: ContextDict | undefined
  #owner: ContextOwner | undefined

  private constructor(handle: ContextHandle) {
    this.#handle = handle
  }

  /**
   * Creates a context that holds only the special messages given.
   *
   * @throws {InvalidMessageError} if a message has the wrong shape.
   */
  static create(options: ContextOptions = {}): Context {
    const given = readOptions(options, CONTEXT_OPTIONS, 'Context.create')
    const { parentContext: parent, systemPromptMessage, toolDefinitionsMessage } = given
    const [systemPrompt, toolDefinitions] = specialTexts({ systemPromptMessage, toolDefinitionsMessage })
    const { ContextHandle } = rust()
    if (parent === undefined || parent === null) {
      return new Context(ContextHandle.create(systemPrompt, toolDefinitions, given))
    }
    return new Context(
      ContextHandle.createFrom(handleOf(parent, 'options.parentContext'), systemPrompt, toolDefinitions, given),
    )
  }

  /**
   * Creates a context from a dict, such as a parsed context file. Missing fields get their defaults.
   *
   * @throws {InvalidArgumentError} if a field has the wrong shape; `argument` is its path.
   * @throws {FileTooLargeError} if its file would exceed a limit.
   */
  static fromDict(dict: object, options?: FileLimits): Context {
    const given = readOptions(options, FILE_LIMITS, 'Context.fromDict')
    const text = toJsonText(dict, 'dict')
    return new Context(rust().ContextHandle.fromDict(passText(text), given))
  }

  /** @internal */
  static wrap(handle: ContextHandle): Context {
    return new Context(handle)
  }

  /** @internal */
  get handle(): ContextHandle {
    if (this.#handle === null) throw new DisposedError('context')
    return this.#handle
  }

  /**
   * Whether a value is a context. Unlike `instanceof` it runs no code of the value.
   * @internal
   */
  static isContext(value: unknown): value is Context {
    return typeof value === 'object' && value !== null && #handle in value
  }

  /** @internal */
  get isFreed(): boolean {
    return this.#handle === null
  }

  /** @internal */
  belongTo(owner: ContextOwner): void {
    this.#owner = owner
  }

  /**
   * Whether this is the active context of a session. After a window on a session it is not: the context that the window
   * returned is.
   */
  get isActive(): boolean {
    const { handle } = this
    return this.#owner?.hasActive(handle) === true
  }

  /** The id, which is also the name of the file. */
  get id(): string {
    return this.handle.id
  }

  /** The messages in display order. */
  get messages(): readonly StoredMessage[] {
    return this.storedMessages
  }

  /** @internal */
  get storedMessages(): readonly StoredMessage[] {
    return this.#messages.of(this.handle)
  }

  /** The number of messages. */
  get messageCount(): number {
    return this.handle.messageCount
  }

  /** Texts by their SHA-256. */
  get contentMap(): Readonly<Record<string, string>> {
    return this.#dictFields().content_map
  }

  /** Name and index of each anchor in ascending order; an index is the position after the anchor's last message. */
  get anchorPoints(): readonly AnchorPoint[] {
    return this.#dictFields().anchor_points
  }

  /** The system prompt; `null` if the context does not begin with one. */
  get systemPromptMessage(): StoredMessage | null {
    return this.#special('SystemPromptMessage')
  }

  /** The tool definitions; `null` if the context does not begin with them. */
  get toolDefinitionsMessage(): StoredMessage | null {
    return this.#special('ToolDefinitionsMessage')
  }

  /** The ids of the contexts that were forked from this one. */
  get children(): readonly string[] {
    return this.#dictFields().children
  }

  /** The id of the context that this one was forked from; `null` if there is none. */
  get originContextId(): string | null {
    return this.#dictFields().origin_context_id ?? null
  }

  /**
   * The dict, as the file holds it. A dict with the same id can be assigned, and is checked.
   *
   * @throws {InvalidArgumentError} on assignment, if a field has the wrong shape; `argument` is its path.
   */
  get rawDict(): ContextDict {
    return this.#wholeDict()
  }

  set rawDict(dict: object) {
    const text = toJsonText(dict, 'rawDict')
    const { handle } = this
    handle.setDict(passText(text))
  }

  /**
   * Appends a message at an anchor.
   *
   * @example
   * ```ts
   * import { Context } from 'peteos-session'
   *
   * const context = Context.create()
   * const stored = context.append({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
   * console.log(stored.id, context.messageCount)
   * ```
   *
   * @param anchorPoint The name of the anchor. By default `'messages'`, the end of the conversation.
   * @returns The message as it is stored, with its id, time and sequence number.
   * @throws {InvalidMessageError} if a field has the wrong shape; `field` is its path.
   * @throws {InvalidArgumentError} if the context has no such anchor.
   */
  append(message: SessionMessage, anchorPoint?: string): StoredMessage {
    // Reading the argument may run code of the caller, so it comes before anything else.
    const { text, value } = copyJson(message, 'message', true)
    const { handle } = this
    const stored = JSON.parse(handle.append(passText(text), anchorPoint)) as [number, Record<string, unknown>]
    return this.#messages.add(stored[0], fillIn<StoredMessage>(stored[1], value))
  }

  /**
   * Appends all messages of a JSON array at the end of the conversation, or none.
   * @internal
   */
  appendAll(messages: Uint8Array): StoredMessage[] {
    const positions = this.handle.appendAll(messages)
    const { storedMessages } = this
    return Array.from(positions, (position) => storedMessages[position] as StoredMessage)
  }

  /**
   * Changes fields of a stored message, such as its `content` once a tool call is approved. The message keeps its id and
   * its position; an outdated `token_count` is dropped.
   *
   * @returns The message as it is stored now.
   * @throws {InvalidMessageError} if a field has the wrong shape; `field` is its path.
   * @throws {InvalidArgumentError} if no message has this id.
   */
  updateMessage(id: string, changes: Partial<SessionMessage>): StoredMessage {
    const text = toJsonText(changes, 'message')
    const { handle } = this
    const stored = handle.updateMessage(id, passText(text))
    const [key, oldKey, message] = JSON.parse(stored) as [number, number, StoredMessage]
    return this.#messages.replace(oldKey, key, message)
  }

  /**
   * Names a position in the message list.
   *
   * @param index The position, from 0 to the number of messages.
   * @throws {InvalidArgumentError} if the name is taken, or the index is out of range.
   */
  addAnchor(name: string, index: number, options?: AnchorOptions): void {
    const { afterExisting = true } = readOptions(options, ['afterExisting'], 'addAnchor')
    this.handle.addAnchor(name, index, afterExisting)
  }

  /**
   * Creates a context with the special messages and those whose sequence numbers are in a range, by default all. Its id is
   * added to `children`.
   */
  fork(options: ForkOptions = {}): Context {
    const { start, end, ...specials } = readOptions(options, FORK_OPTIONS, 'fork')
    const [systemPrompt, toolDefinitions] = specialTexts(specials)
    return new Context(this.handle.fork(start, end, systemPrompt, toolDefinitions))
  }

  /** Creates a fork without `thinking` parts. Messages that have no other part are left out. */
  stripThinking(): Context {
    return new Context(this.handle.stripThinking())
  }

  /**
   * Creates a fork with the special messages, the pinned ones and the newest of the others, at most `count` messages
   * besides the special ones.
   *
   * @param count The number of messages to keep, a non-negative integer.
   * @returns The fork; `null` if no message would be dropped.
   * @throws {InvalidArgumentError} if the count or an option is invalid.
   * @throws {WindowTooSmallError} if the pinned messages do not fit or, with the boundary `'exchange'` or `'turn'`, not even
   * the newest exchange does.
   */
  rollingSequenceWindow(count: number, options?: SequenceWindowOptions): Context | null {
    const wireOptions = sequenceWindowOptions(options)
    return wrapOrNull(this.handle.rollingSequenceWindow(count, wireOptions))
  }

  /**
   * Creates a fork with the special messages, the pinned ones and the newest of the others, at most `maxTokens` tokens in
   * all. With the boundary `'message'` it may hold the special messages alone.
   *
   * @example
   * ```ts
   * import { Context } from 'peteos-session'
   *
   * const context = Context.create()
   * for (const text of ['one', 'two', 'three']) context.append({ role: 'user', content: [{ type: 'text', text }] })
   * const window = context.rollingTokenWindow(40, 'o200k_base', { boundary: 'turn' })
   * console.log(window?.messageCount ?? 'everything fits')
   * ```
   *
   * @param maxTokens The token budget, a non-negative integer.
   * @param encoding The tiktoken encoding to count in. By default `cl100k_base`.
   * @returns The fork; `null` if no message would be dropped.
   * @throws {InvalidArgumentError} if the budget or an option is invalid.
   * @throws {WindowTooSmallError} if the pinned messages do not fit or, with the boundary `'exchange'` or `'turn'`, not even
   * the newest exchange does.
   * @throws {UnknownEncodingError} if the encoding is unknown; `known` lists the known ones.
   * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
   */
  rollingTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): Context | null {
    const wireOptions = tokenWindowOptions(this, options)
    return wrapOrNull(this.handle.rollingTokenWindow(maxTokens, encoding, wireOptions))
  }

  /** Reports what {@link rollingSequenceWindow} would keep and drop, and why. Changes nothing; throws the same errors. */
  planSequenceWindow(count: number, options?: SequenceWindowOptions): WindowReport {
    const wireOptions = sequenceWindowOptions(options)
    return reportOf(this.handle.planSequenceWindow(count, wireOptions))
  }

  /**
   * Reports what {@link rollingTokenWindow} would keep and drop, why, and the tokens of every message. Changes nothing;
   * throws the same errors.
   *
   * @example
   * ```ts
   * import { Context } from 'peteos-session'
   *
   * const context = Context.create()
   * for (const text of ['one', 'two', 'three']) context.append({ role: 'user', content: [{ type: 'text', text }] })
   * const { kept, dropped, tokensBefore, tokensAfter } = context.planTokenWindow(40)
   * console.log(kept.length, dropped.length, tokensBefore, tokensAfter)
   * ```
   */
  planTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): TokenWindowReport {
    const wireOptions = tokenWindowOptions(this, options)
    return reportOf(this.handle.planTokenWindow(maxTokens, encoding, wireOptions)) as TokenWindowReport
  }

  /**
   * Creates a fork in which the contents of old tool results are a short text. Calls and results stay paired.
   *
   * @example
   * ```ts
   * import { ContentPart, Context, Message } from 'peteos-session'
   *
   * const context = Context.create()
   * for (const id of ['a', 'b']) {
   *   context.append(Message.create('assistant', [ContentPart.toolUse(id, 'read', { path: id })]))
   *   context.append(Message.create('tool_result', [ContentPart.toolResult(id, 'a long file '.repeat(100))]))
   * }
   * const cleared = context.clearToolResults({ keep: 1 })
   * console.log(context.totalTokenCount(), cleared?.totalTokenCount())
   * ```
   *
   * @returns The fork; `null` if no tokens, or fewer than `clearAtLeast`, would be freed.
   * @throws {InvalidArgumentError} if an option is invalid; `argument` is its path.
   * @throws {UnknownEncodingError} and {EncodingNotLoadedError} like {@link rollingTokenWindow}.
   */
  clearToolResults(options?: ClearToolResultsOptions): Context | null {
    return this.#fork('clear-tool-results', options)
  }

  /** Reports what {@link clearToolResults} would do. Changes nothing; throws the same errors. */
  planClearToolResults(options?: ClearToolResultsOptions): StepReport {
    return this.#plan('clear-tool-results', options)
  }

  /** Creates a fork without the thinking of earlier turns; `null` if nothing is freed. Throws like {@link clearToolResults}. */
  clearThinking(options?: ClearThinkingOptions): Context | null {
    return this.#fork('clear-thinking', options)
  }

  /** Reports what {@link clearThinking} would do. */
  planClearThinking(options?: ClearThinkingOptions): StepReport {
    return this.#plan('clear-thinking', options)
  }

  /** Creates a fork with notes in place of old media; `null` if nothing is freed. Throws like {@link clearToolResults}. */
  clearMedia(options?: ClearMediaOptions): Context | null {
    return this.#fork('clear-media', options)
  }

  /** Reports what {@link clearMedia} would do. */
  planClearMedia(options?: ClearMediaOptions): StepReport {
    return this.#plan('clear-media', options)
  }

  /** Creates a fork with long texts shortened in the middle; `null` if none is long. Throws like {@link clearToolResults}. */
  elide(options: ElideOptions): Context | null {
    return this.#fork('elide', options)
  }

  /** Reports what {@link elide} would do. */
  planElide(options: ElideOptions): StepReport {
    return this.#plan('elide', options)
  }

  /**
   * Creates a fork in which only the latest of equal tool results has its content; `null` if nothing is freed. Throws like
   * {@link clearToolResults}.
   */
  dedupeToolResults(options?: DedupeToolResultsOptions): Context | null {
    return this.#fork('dedupe-tool-results', options)
  }

  /** Reports what {@link dedupeToolResults} would do. */
  planDedupeToolResults(options?: DedupeToolResultsOptions): StepReport {
    return this.#plan('dedupe-tool-results', options)
  }

  /**
   * Creates a fork in which a text of the caller, as a message of the user, stands for whole exchanges. Its metadata lists the
   * ids of the messages that it stands for as `summary_of`.
   *
   * @throws {NoSavingError} if the text has as many tokens as the messages.
   * @throws {InvalidArgumentError} if there is no such message, or if the range separates a tool call from its result.
   */
  summarize(options: SummarizeOptions): Context {
    return this.#fork('summarize', options) as Context
  }

  /** Reports what {@link summarize} would do. Changes nothing; throws the same errors. */
  planSummarize(options: SummarizeOptions): StepReport {
    return this.#plan('summarize', options)
  }

  /**
   * Creates a fork that fits a policy: the steps are taken in order. A step before a window is taken only if the limit of that
   * window does not hold.
   *
   * @example
   * ```ts
   * import { Context, type Policy } from 'peteos-session'
   *
   * const policy: Policy = [
   *   { type: 'clear-tool-results', keep: 10, clearAtLeast: 20_000 },
   *   { type: 'token-window', maxTokens: 60_000, boundary: 'turn', hysteresis: { to: 30_000 } },
   * ]
   * console.log(Context.create().fit(policy)) // null: it fits
   * ```
   *
   * @returns The fork and a report of each step that changed something; `null` if nothing changed.
   * @throws {InvalidArgumentError} if the policy is not valid; `argument` is the path of the field, such as `policy[1].boundary`.
   * @throws {WindowTooSmallError} if a window cannot keep its minimum.
   */
  fit(policy: Policy, options?: EncodingOption): Fitted | null {
    const fitted = this.#fit(...policyArguments(policy, options))
    return fitted && { context: fitted[0], reports: deepFreeze(JSON.parse(fitted[1])) }
  }

  /** The reports of {@link fit}; none if nothing would change. Changes nothing; throws the same errors. */
  planFit(policy: Policy, options?: EncodingOption): readonly StepReport[] {
    return deepFreeze(JSON.parse(this.handle.planFit(...policyArguments(policy, options))))
  }

  /** The number of tokens of all messages, by default in `cl100k_base`. Each message is counted once, until it changes. */
  totalTokenCount(encoding?: EncodingName, options?: CountingOptions): number {
    const wireOptions = tokenCountOptions(this, options)
    return this.handle.totalTokenCount(encoding, wireOptions)
  }

  /** The number of tokens of each message in the order of {@link messages}, by default in `cl100k_base`. */
  tokenCounts(encoding?: EncodingName, options?: CountingOptions): number[] {
    const wireOptions = tokenCountOptions(this, options)
    return Array.from(this.handle.tokenCounts(encoding, wireOptions))
  }

  /** The dict, for `JSON.stringify`. */
  toJSON(): ContextDict {
    return this.#wholeDict()
  }

  /**
   * Releases the memory now instead of when the object is collected; `using` does so as well. A session that has the
   * context keeps it.
   */
  free(): void {
    this.#handle?.free()
    this.#handle = null
  }

  /** Same as {@link free}. */
  declare readonly [Symbol.dispose]: () => void

  #fork(type: StepKind, options: object | undefined): Context | null {
    return this.#fit(...stepArguments(type, options))?.[0] ?? null
  }

  #plan(type: StepKind, options: object | undefined): StepReport {
    return deepFreeze(JSON.parse(this.handle.planFit(...stepArguments(type, options))))
  }

  /** The fork of a step or a policy, and the text of its reports. */
  #fit(steps: string, encoding: EncodingName | undefined): [Context, string] | null {
    const made = this.handle.fit(steps, encoding) as [ContextHandle, string] | undefined
    return made === undefined ? null : [new Context(made[0]), made[1]]
  }

  #special(kind: string): StoredMessage | null {
    const position = this.handle.specialPosition(kind)
    return position === undefined ? null : (this.storedMessages[position] ?? null)
  }

  #wholeDict(): ContextDict {
    const messages = this.storedMessages
    const fields = this.#dictFields()
    if (this.#dict === undefined || this.#dict.messages !== messages) {
      this.#dict = Object.freeze({ ...fields, messages }) as ContextDict
    }
    return this.#dict
  }

  #dictFields(): ContextDict {
    const { handle } = this
    const revision = handle.revision
    if (this.#fields === undefined || this.#fieldsRevision !== revision) {
      this.#fields = fromJsonText<ContextDict>(handle.dictText())
      this.#fieldsRevision = revision
      this.#dict = undefined
    }
    return this.#fields
  }
}

wrapMethods(Context, ['wrap', 'handle', 'isContext', 'isFreed', 'belongTo', 'storedMessages'])
makeDisposable(Context.prototype)

/**
 * The JSON texts of the special messages that a caller passes.
 * @internal
 */
export function specialTexts(options: SpecialMessages): [string | undefined, string | undefined] {
  const text = (message: SpecialMessage | null | undefined) =>
    message === undefined || message === null ? undefined : toJsonText(message, 'message')
  const texts: [string | undefined, string | undefined] = [
    text(options.systemPromptMessage),
    text(options.toolDefinitionsMessage),
  ]
  ensureMemory((texts[0]?.length ?? 0) + (texts[1]?.length ?? 0))
  return texts
}

/**
 * The handle of a context; throws if the value is not one.
 * @internal
 */
export function handleOf(context: unknown, argument: string): ContextHandle {
  if (Context.isContext(context)) return context.handle
  throw new InvalidArgumentError(`${argument}: expected a Context; Context.fromDict creates one from a dict`, {
    argument,
  })
}

function wrapOrNull(handle: ContextHandle | undefined): Context | null {
  return handle === undefined ? null : Context.wrap(handle)
}
