import type { ContextHandle } from '../../pkg/peteos_session.js'
import { DisposedError, InvalidArgumentError } from '../errors.js'
import type { SessionMessage, SpecialMessage, StoredMessage } from '../messages/message.js'
import { readOptions } from '../read-options.js'
import type { CountingOptions } from '../tokens/counting.js'
import type { EncodingName } from '../generated/lists.js'
import { fromJsonText, toJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import {
  type SequenceWindowOptions,
  sequenceWindowOptions,
  tokenCountOptions,
  type TokenWindowOptions,
  tokenWindowOptions,
} from '../windows/options.js'
import { reportOf, type WindowReport } from '../windows/report.js'
import type { AnchorPoint, ContextDict } from './dicts.js'
import { makeDisposable } from './dispose.js'
import { MessageSnapshots } from './message-snapshots.js'

/** The special messages of a new context or a fork. */
export interface SpecialMessages {
  systemPromptMessage?: SpecialMessage | null
  toolDefinitionsMessage?: SpecialMessage | null
}

/** Options of {@link Context.create}. */
export interface ContextOptions extends SpecialMessages {
  /** The context whose content map is taken over. */
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
  /** Whether it comes after anchors at the same position (the default) or before them. */
  afterExisting?: boolean
}

const SPECIAL_MESSAGES = ['systemPromptMessage', 'toolDefinitionsMessage'] as const
const CONTEXT_OPTIONS = [...SPECIAL_MESSAGES, 'parentContext'] as const
const FORK_OPTIONS = [...SPECIAL_MESSAGES, 'start', 'end'] as const

/**
 * A list of messages in display order: what goes to a model. Anchors name places in it that messages are appended at.
 *
 * What it shows are snapshots, frozen to their depth and the same objects until the next change. It is changed through
 * its methods alone.
 */
export class Context {
  #handle: ContextHandle | null
  readonly #messages = new MessageSnapshots()
  /** The dict with an empty list of messages. */
  #fields: ContextDict | undefined
  #fieldsRevision = -1
  #dict: ContextDict | undefined

  private constructor(handle: ContextHandle) {
    this.#handle = handle
  }

  /**
   * A new context without messages but the special ones given.
   *
   * @throws {InvalidMessageError} for a message of the wrong shape.
   */
  static create(options: ContextOptions = {}): Context {
    const { parentContext: parent, ...specials } = readOptions(options, CONTEXT_OPTIONS, 'Context.create')
    const [systemPrompt, toolDefinitions] = specialTexts(specials)
    const { ContextHandle } = rust()
    if (parent === undefined || parent === null) {
      return new Context(ContextHandle.create(systemPrompt, toolDefinitions))
    }
    return new Context(ContextHandle.createFrom(handleOf(parent, 'options.parentContext'), systemPrompt, toolDefinitions))
  }

  /**
   * The context of a dict, such as the parsed file of one. What it lacks gets its default.
   *
   * @throws {InvalidArgumentError} names the field of the wrong shape.
   */
  static fromDict(dict: object): Context {
    const text = toJsonText(dict, 'dict')
    return new Context(rust().ContextHandle.fromDict(text))
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
   * Whether a value is a context. Not `instanceof`, which asks the value itself.
   * @internal
   */
  static isContext(value: unknown): value is Context {
    return typeof value === 'object' && value !== null && #handle in value
  }

  /** @internal */
  get isFreed(): boolean {
    return this.#handle === null
  }

  /** The id, which its file is named after. */
  get id(): string {
    return this.handle.id
  }

  /** The messages in display order. */
  get messages(): readonly StoredMessage[] {
    return this.#messages.of(this.handle)
  }

  /** The number of messages. */
  get messageCount(): number {
    return this.handle.messageCount
  }

  /** Texts by the sha256 of each. */
  get contentMap(): Readonly<Record<string, string>> {
    return this.#dictFields().content_map
  }

  /** Name and index of each anchor in ascending order; an index is the position after the anchor's last message. */
  get anchorPoints(): readonly AnchorPoint[] {
    return this.#dictFields().anchor_points
  }

  /** The system prompt, where the context has one in front. */
  get systemPromptMessage(): StoredMessage | null {
    return this.#special('SystemPromptMessage')
  }

  /** The tool definitions, where the context has them in front. */
  get toolDefinitionsMessage(): StoredMessage | null {
    return this.#special('ToolDefinitionsMessage')
  }

  /** The ids of the contexts that were forked from this one. */
  get children(): readonly string[] {
    return this.#dictFields().children
  }

  /** The id of the context that this one was forked from. */
  get originContextId(): string | null {
    return this.#dictFields().origin_context_id ?? null
  }

  /**
   * The dict, as the file holds it. Another one may be assigned: it is checked, and has to have the same id.
   *
   * @throws {InvalidArgumentError} on assignment; names the field of the wrong shape.
   */
  get rawDict(): ContextDict {
    const messages = this.messages
    const fields = this.#dictFields()
    if (this.#dict === undefined || this.#dict.messages !== messages) {
      this.#dict = Object.freeze({ ...fields, messages }) as ContextDict
    }
    return this.#dict
  }

  set rawDict(dict: object) {
    const text = toJsonText(dict, 'rawDict')
    this.handle.setDict(text)
  }

  /**
   * Appends a message at the end of an anchor's partition.
   *
   * @param anchorPoint By default `messages`, the end of the conversation.
   * @returns The message as it is stored, with id, time and sequence number.
   * @throws {InvalidMessageError} names the field of the wrong shape.
   * @throws {InvalidArgumentError} for an anchor that is not there.
   */
  append(message: SessionMessage, anchorPoint = 'messages'): StoredMessage {
    // Reading what was handed in may run code of the caller: it comes before the context is looked at.
    const text = toJsonText(message, 'message')
    return this.#messages.add(this.handle.append(text, anchorPoint))
  }

  /**
   * Changes fields of a stored message, such as the `content` of one whose tool call was approved. Its id and its place
   * stay; a `token_count` that no longer holds is dropped.
   *
   * @returns The message as it is stored now.
   * @throws {InvalidMessageError} names the field of the wrong shape.
   * @throws {InvalidArgumentError} for an id that no message has.
   */
  updateMessage(id: string, changes: Partial<SessionMessage>): StoredMessage {
    const text = toJsonText(changes, 'message')
    return this.#messages.add(this.handle.updateMessage(id, text))
  }

  /**
   * Names a place in the message list.
   *
   * @param index The position, from 0 to the number of messages.
   * @throws {InvalidArgumentError} for a name that is taken, or an index past the end.
   */
  addAnchor(name: string, index: number, options?: AnchorOptions): void {
    const { afterExisting = true } = readOptions(options, ['afterExisting'], 'addAnchor')
    this.handle.addAnchor(name, index, afterExisting)
  }

  /**
   * A new context with the messages whose sequence numbers are in a range (by default all) and the special ones. Its id
   * is added to `children`.
   */
  fork(options: ForkOptions = {}): Context {
    const { start, end, ...specials } = readOptions(options, FORK_OPTIONS, 'fork')
    const [systemPrompt, toolDefinitions] = specialTexts(specials)
    return new Context(this.handle.fork(start, end, systemPrompt, toolDefinitions))
  }

  /** A fork with everything but `thinking` parts; messages that have no other part are left out. */
  stripThinking(): Context {
    return new Context(this.handle.stripThinking())
  }

  /**
   * A fork with the special messages, the pinned ones, and of the others the last by sequence number, as many as make no
   * more than `count` with the pinned ones; `null` where none is dropped.
   *
   * @throws {InvalidArgumentError} for a count that is no whole number from 0 up, and for options that cannot be used.
   * @throws {WindowTooSmallError} where not even the newest exchange fits, for the boundaries `'exchange'` and `'turn'`; or
   * where what is pinned does not.
   */
  rollingSequenceWindow(count: number, options?: SequenceWindowOptions): Context | null {
    const crossing = sequenceWindowOptions(options)
    return wrapOrNull(this.handle.rollingSequenceWindow(count, crossing))
  }

  /**
   * A fork with the special messages, the pinned ones, and of the others the last by sequence number, as many as have
   * together at most `maxTokens` tokens; `null` where none is dropped. With the boundary `'message'`, the special ones
   * alone where none of the others fits.
   *
   * @param encoding The tiktoken encoding that tokens are counted in; by default `cl100k_base`.
   * @throws {InvalidArgumentError} for a budget that is no whole number from 0 up, and for options that cannot be used.
   * @throws {WindowTooSmallError} where not even the newest exchange fits, for the boundaries `'exchange'` and `'turn'`; or
   * where what is pinned does not.
   * @throws {UnknownEncodingError} lists the known encodings.
   * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
   */
  rollingTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): Context | null {
    const crossing = tokenWindowOptions(this, options)
    return wrapOrNull(this.handle.rollingTokenWindow(maxTokens, encoding, crossing))
  }

  /** What {@link rollingSequenceWindow} would keep and drop, and why. Changes nothing; throws what that throws. */
  planSequenceWindow(count: number, options?: SequenceWindowOptions): WindowReport {
    const crossing = sequenceWindowOptions(options)
    return reportOf(this.handle.planSequenceWindow(count, crossing))
  }

  /**
   * What {@link rollingTokenWindow} would keep and drop, why, and the tokens of every message. Changes nothing; throws what
   * that throws.
   */
  planTokenWindow(maxTokens: number, encoding?: EncodingName, options?: TokenWindowOptions): WindowReport {
    const crossing = tokenWindowOptions(this, options)
    return reportOf(this.handle.planTokenWindow(maxTokens, encoding, crossing))
  }

  /** The tokens of all messages; each is counted once, until it changes. By default in `cl100k_base`. */
  totalTokenCount(encoding?: EncodingName, options?: CountingOptions): number {
    const crossing = tokenCountOptions(this, options)
    return this.handle.totalTokenCount(encoding, crossing)
  }

  /** The tokens of each message, in the order of {@link messages}. By default in `cl100k_base`. */
  tokenCounts(encoding?: EncodingName, options?: CountingOptions): number[] {
    const crossing = tokenCountOptions(this, options)
    return Array.from(this.handle.tokenCounts(encoding, crossing))
  }

  /** The dict, for `JSON.stringify`. */
  toJSON(): ContextDict {
    return this.rawDict
  }

  /**
   * Gives the memory back now rather than when the object is collected; also by `using`. A session that has the context
   * keeps it.
   */
  free(): void {
    this.#handle?.free()
    this.#handle = null
  }

  declare readonly [Symbol.dispose]: () => void

  #special(kind: string): StoredMessage | null {
    const position = this.handle.specialPosition(kind)
    return position === undefined ? null : (this.messages[position] ?? null)
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

makeDisposable(Context.prototype)

/**
 * The JSON texts of the special messages that a caller hands in.
 * @internal
 */
export function specialTexts(options: SpecialMessages): [string | undefined, string | undefined] {
  const text = (message: SpecialMessage | null | undefined) =>
    message === undefined || message === null ? undefined : toJsonText(message, 'message')
  return [text(options.systemPromptMessage), text(options.toolDefinitionsMessage)]
}

/**
 * The handle of what should be a context.
 * @internal
 */
export function handleOf(context: unknown, argument: string): ContextHandle {
  if (Context.isContext(context)) return context.handle
  throw new InvalidArgumentError(`${argument}: expected a Context; Context.fromDict makes one of a dict`, { argument })
}

function wrapOrNull(handle: ContextHandle | undefined): Context | null {
  return handle === undefined ? null : Context.wrap(handle)
}
