// The public surface, the same from every entry point.
export { type AnchorOptions, Context, type ContextOptions, type ForkOptions, type SpecialMessages } from './context.js'
export {
  type CountOptions,
  countTokens,
  decode,
  encode,
  encodingForModel,
  loadEncoding,
  type VocabularySource,
} from './encodings.js'
export {
  ConflictError,
  ContextNotFoundError,
  CorruptSessionError,
  DisposedError,
  EncodingNotLoadedError,
  FileTooLargeError,
  InvalidArgumentError,
  InvalidMessageError,
  NotInitializedError,
  SessionError,
  SessionNotFoundError,
  StorageError,
  UnknownEncodingError,
  WindowTooSmallError,
} from './errors.js'
export { ContentPart, Message, SystemPromptMessage, ToolDefinitionsMessage } from './messages.js'
export { check, type Provider, type ProviderFinding, type ProviderRule } from './provider-check.js'
export type * from './provider-types.js'
export { fromMessages, toMessages, type ToMessagesOptions } from './providers.js'
export { init, type ModuleSource } from './runtime.js'
export {
  type ForkedContext,
  type HookCallback,
  type ListOptions,
  type LoadOptions,
  type NewSession,
  type ReadOptions,
  type SaveOptions,
  Session,
  type SessionOptions,
  type StorageOptions,
} from './session.js'
export type { SessionState } from './session-state.js'
export { MemoryStorage } from './storage/memory.js'
export type { SessionStorage } from './storage/storage.js'
export type * from './types.js'
