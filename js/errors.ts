import type { ErrorClass } from './generated/lists.js'

/**
 * Base class of every error that this package throws. `code` is stable; the message says what to do.
 */
export class SessionError extends Error {
  override name = 'SessionError'
  /** A stable, machine-readable code. */
  readonly code: string
  /** What caused the error, if anything did. */
  // Declared here, because `Error` has it only from ES2022 on.
  declare readonly cause?: unknown

  constructor(message: string, code = 'ERR_SESSION', options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** `session.json` does not exist. Its code is `ENOENT`, as for a file that Node does not find. */
export class SessionNotFoundError extends SessionError {
  override name = 'SessionNotFoundError'
  /** The path of the missing `session.json`. */
  readonly path: string

  constructor(message: string, details: { path: string }) {
    super(message, 'ENOENT')
    this.path = details.path
  }
}

/** The session has no active context. */
export class NoActiveContextError extends SessionError {
  override name = 'NoActiveContextError'

  constructor() {
    super('the session has no active context; activate one with setActiveContext(context)', 'ERR_NO_ACTIVE_CONTEXT')
  }
}

/** The session has no context with this id. */
export class ContextNotFoundError extends SessionError {
  override name = 'ContextNotFoundError'
  /** The requested id. */
  readonly id: string
  /** The path of the missing file. */
  readonly path: string

  constructor(message: string, details: { id: string; path: string }) {
    super(message, 'ERR_CONTEXT_NOT_FOUND')
    this.id = details.id
    this.path = details.path
  }
}

/** A file is not valid JSON, or not a valid session or context. The file is not changed. */
export class CorruptSessionError extends SessionError {
  override name = 'CorruptSessionError'
  /** The path of the file. */
  readonly path: string
  /** The line at fault, from 1. */
  readonly line: number
  /** The column at fault in bytes, from 1. */
  readonly column: number
  /** The field at fault, such as `messages[3].content`; `null` if the text is not valid JSON. */
  readonly field: string | null

  constructor(message: string, details: { path: string; line: number; column: number; field: string | null }) {
    super(message, 'ERR_CORRUPT_SESSION')
    this.path = details.path
    this.line = details.line
    this.column = details.column
    this.field = details.field
  }
}

/**
 * A file exceeds `maxFileBytes` or `maxFileValues`. A load has not parsed it; an append, a save or a repair has changed and
 * written nothing.
 */
export class FileTooLargeError extends SessionError {
  override name = 'FileTooLargeError'
  /** The path of the file; its name if the context belongs to no directory yet. */
  readonly path: string
  /** The size of the file, in bytes or values; `null` if its values were counted only up to the limit. */
  readonly size: number | null
  /** The limit. */
  readonly limit: number
  /** The option that sets the limit. */
  readonly option: 'maxFileBytes' | 'maxFileValues'

  constructor(message: string, details: Pick<FileTooLargeError, 'path' | 'size' | 'limit' | 'option'>) {
    super(message, 'ERR_FILE_TOO_LARGE')
    this.path = details.path
    this.size = details.size
    this.limit = details.limit
    this.option = details.option
  }
}

/**
 * An operation needs more memory of the WebAssembly module than is left. It has changed nothing, and other sessions are not
 * affected. Release sessions and contexts that are no longer needed, or raise the limit with `init({ maxMemory })`.
 */
export class MemoryLimitError extends SessionError {
  override name = 'MemoryLimitError'
  /** The bytes that are needed in addition to those in use. */
  readonly needed: number
  /** The bytes in use. */
  readonly used: number
  /** The limit in bytes. */
  readonly limit: number

  constructor(message: string, details: { needed: number; used: number; limit: number }) {
    super(message, 'ERR_MEMORY_LIMIT')
    this.needed = details.needed
    this.used = details.used
    this.limit = details.limit
  }
}

/**
 * Another writer has changed or removed a file since this session read or wrote it, or a variable of the session's state has another
 * value than the caller expected.
 */
export class ConflictError extends SessionError {
  override name = 'ConflictError'
  /** The path of the file; `null` if the conflict is about a variable. */
  readonly path: string | null
  /** The name of the variable; `null` if the conflict is about a file. */
  readonly variable: string | null
  /** The SHA-256 of the file when this session last read or wrote it; `null` if there was no file. */
  readonly expected: string | null
  /** The SHA-256 of the file now; `null` if there is no file, or the conflict is about a variable. */
  readonly found: string | null

  constructor(
    message: string,
    details: { path?: string; variable?: string; expected?: string | undefined; found?: string | undefined },
  ) {
    super(message, 'ERR_CONFLICT')
    this.path = details.path ?? null
    this.variable = details.variable ?? null
    this.expected = details.expected ?? null
    this.found = details.found ?? null
  }
}

/** An invalid argument or option. */
export class InvalidArgumentError extends SessionError {
  override name = 'InvalidArgumentError'
  /** The argument at fault, with the path of the field: `count`, `options.boundary`, `rawDict.uuid`. */
  readonly argument: string

  constructor(message: string, details: { argument: string; cause?: unknown }, code = 'ERR_INVALID_ARGUMENT') {
    super(message, code, 'cause' in details ? { cause: details.cause } : undefined)
    this.argument = details.argument
  }
}

/** A message of the wrong shape. */
export class InvalidMessageError extends InvalidArgumentError {
  override name = 'InvalidMessageError'
  /** The field at fault within the message, such as `content[0].text`; empty if it is the message itself. */
  readonly field: string

  constructor(message: string, details: { field: string; cause?: unknown }) {
    const argument = 'message'
    super(message, 'cause' in details ? { argument, cause: details.cause } : { argument }, 'ERR_INVALID_MESSAGE')
    this.field = details.field
  }
}

/** An unknown encoding or model. */
export class UnknownEncodingError extends InvalidArgumentError {
  override name = 'UnknownEncodingError'
  /** The names of the known encodings. */
  readonly known: readonly string[]

  constructor(message: string, details: { argument: string; known: readonly string[] }) {
    super(message, details, 'ERR_UNKNOWN_ENCODING')
    this.known = details.known
  }
}

/** The vocabulary of an encoding is not loaded, and cannot be loaded synchronously here: `await loadEncoding(name)`. */
export class EncodingNotLoadedError extends SessionError {
  override name = 'EncodingNotLoadedError'
  /** The name of the encoding. */
  readonly encoding: string

  constructor(message: string, details: { encoding: string }) {
    super(message, 'ERR_ENCODING_NOT_LOADED')
    this.encoding = details.encoding
  }
}

/**
 * The limit of a window is too small for the messages that it must keep: the special ones, the pinned ones, the newest
 * exchange, and with the boundary `'turn'` its prompt. Nothing was changed.
 */
export class WindowTooSmallError extends SessionError {
  override name = 'WindowTooSmallError'
  /** The number of messages, or the token budget, that was given. */
  readonly limit: number
  /** The tokens of the special messages; `null` for a sequence window. */
  readonly specialTokens: number | null
  /** The smallest limit that works: what must be kept, and what is reserved. */
  readonly needed: number
  /**
   * The tokens of the text of media, such as base64 data, among `needed`; 0 if the limit would be too small without them too.
   * The option `media` counts what a provider charges for them instead.
   */
  readonly mediaTokens: number

  constructor(
    message: string,
    details: { limit: number; specialTokens: number | null; needed: number; mediaTokens: number },
  ) {
    super(message, 'ERR_WINDOW_TOO_SMALL')
    this.limit = details.limit
    this.specialTokens = details.specialTokens
    this.needed = details.needed
    this.mediaTokens = details.mediaTokens
  }
}

/** A summary has as many tokens as the messages that it would replace. Nothing was changed. */
export class NoSavingError extends SessionError {
  override name = 'NoSavingError'
  /** The tokens of the summary. */
  readonly tokens: number
  /** The tokens of the messages. */
  readonly replaced: number

  constructor(message: string, details: { tokens: number; replaced: number }) {
    super(message, 'ERR_NO_SAVING')
    this.tokens = details.tokens
    this.replaced = details.replaced
  }
}

/** The WebAssembly module is not loaded yet, or could not be loaded: `await init()`. */
export class NotInitializedError extends SessionError {
  override name = 'NotInitializedError'

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, 'ERR_NOT_INITIALIZED', options)
  }
}

/** A session or context was used after its memory was released with `free()` or `using`. */
export class DisposedError extends SessionError {
  override name = 'DisposedError'

  constructor(what: string) {
    super(`this ${what} was freed; load or create another one`, 'ERR_DISPOSED')
  }
}

/** A storage adapter failed. `cause` is what it threw, `code` the code of that (`ENOSPC`, `EACCES`, …) or `EIO`. */
export class StorageError extends SessionError {
  override name = 'StorageError'
  /** The operation that failed: `read`, `write`, `list`, … */
  readonly operation: string
  /** The path of the file or directory. */
  readonly path: string

  constructor(message: string, details: { operation: string; path: string; cause?: unknown }) {
    super(message, storageCode(details.cause), details.cause === undefined ? undefined : { cause: details.cause })
    this.operation = details.operation
    this.path = details.path
  }
}

/** The error codes of Node's file system that match exceptions of browser storage. */
const DOM_EXCEPTION_CODES: Readonly<Record<string, string>> = {
  NotFoundError: 'ENOENT',
  NotAllowedError: 'EACCES',
  SecurityError: 'EACCES',
  QuotaExceededError: 'ENOSPC',
  NoModificationAllowedError: 'EBUSY',
}

function storageCode(cause: unknown): string {
  const code = property(cause, 'code')
  if (typeof code === 'string') return code
  const name = property(cause, 'name')
  return (typeof name === 'string' && DOM_EXCEPTION_CODES[name]) || 'EIO'
}

/**
 * The message of a thrown value of any kind.
 * @internal
 */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return 'the cause says why'
  }
}

/**
 * A property of a thrown value; reading it may throw too.
 * @internal
 */
export function property(value: unknown, key: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}

const CLASSES = {
  SessionNotFoundError,
  ContextNotFoundError,
  CorruptSessionError,
  FileTooLargeError,
  MemoryLimitError,
  ConflictError,
  InvalidArgumentError,
  InvalidMessageError,
  UnknownEncodingError,
  EncodingNotLoadedError,
  WindowTooSmallError,
  NoSavingError,
  StorageError,
} satisfies Record<Exclude<ErrorClass, 'SessionError'>, unknown>

/**
 * Creates an error for Rust.
 * @internal
 */
export function createError(className: ErrorClass, message: string, details: unknown): SessionError {
  const Class = (CLASSES as Record<string, new (message: string, details: never) => SessionError>)[className]
  return Class === undefined ? new SessionError(message) : new Class(message, details as never)
}
