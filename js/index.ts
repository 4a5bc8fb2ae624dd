// The public surface, the same from every entry point.

export { type CutCost, type CutReport, type PlanCostOptions, planCost } from './cost/plan-cost.js'
export {
  type ComparedPolicy,
  compare,
  type Prices,
  type SimulatedRequest,
  type SimulateOptions,
  type Simulation,
  simulate,
} from './cost/simulation.js'
export {
  ConflictError,
  ContextNotFoundError,
  CorruptSessionError,
  DisposedError,
  EncodingNotLoadedError,
  FileTooLargeError,
  InvalidArgumentError,
  InvalidMessageError,
  MemoryLimitError,
  NoActiveContextError,
  NoSavingError,
  NotInitializedError,
  SessionError,
  SessionNotFoundError,
  StorageError,
  UnknownEncodingError,
  WindowTooSmallError,
} from './errors.js'
export type * from './generated/lists.js'
export {
  ContentPart,
  Message,
  SystemPromptMessage,
  ToolDefinitionsMessage,
  type ToolResultOptions,
} from './messages/factories.js'
export type * from './messages/json.js'
export type {
  CacheControl,
  ExecutionStatus,
  MediaPart,
  MediaSource,
  ProviderFields,
  RedactedThinkingPart,
  ResultPart,
  Role,
  SessionMessage,
  SpecialMessage,
  StoredMessage,
  TextPart,
  ThinkingPart,
  ToolPart,
  ToolResultPart,
  ToolUsePart,
} from './messages/message.js'
export { check, type ProviderFinding } from './providers/check.js'
export {
  type ConversionLoss,
  type ConversionOptions,
  type FromMessagesOptions,
  fromMessages,
  type ToMessagesOptions,
  toMessages,
} from './providers/convert.js'
export type * from './providers/formats/ai-sdk.js'
export type * from './providers/formats/anthropic.js'
export type * from './providers/formats/gemini.js'
export type * from './providers/formats/openai-chat.js'
export type * from './providers/formats/openai-responses.js'
export type * from './providers/json-schema.js'
export { loadProviders } from './providers/loading.js'
export type * from './providers/replies.js'
export type * from './providers/requests.js'
export { trimMessages } from './providers/trim-messages.js'
export type * from './providers/trim-types.js'
export type * from './room/steps.js'
export {
  type AnchorOptions,
  Context,
  type ContextOptions,
  type Fitted,
  type ForkOptions,
  type SpecialMessages,
} from './session/context.js'
export type * from './session/dicts.js'
export type {} from './session/dispose.js'
export type * from './session/findings.js'
export type { FileLimits } from './session/limits.js'
export type * from './session/options.js'
export {
  type ForkedContext,
  type HookCallback,
  type NewSession,
  Session,
} from './session/session.js'
export type { SessionState } from './session/state.js'
export type * from './session/summary.js'
export { summaryPrompt } from './session/summary-prompt.js'
export type { WaitOptions } from './storage/bounded.js'
export type { StorageLease } from './storage/lease.js'
export { MemoryStorage } from './storage/memory.js'
export type { AbortSignalLike } from './storage/signal.js'
export type { SessionStorage, StoredFile } from './storage/storage.js'
export type { Counter, CountingOptions, MediaCost } from './tokens/counting.js'
export {
  type CountOptions,
  countTokens,
  decode,
  encode,
  encodingForModel,
  loadEncoding,
  type VocabularySource,
} from './tokens/encodings.js'
export { type InitOptions, init } from './wasm/loading.js'
export { type MemoryUsage, memoryUsage } from './wasm/memory.js'
export type * from './wasm/sources.js'
export type { SequenceWindowOptions, TokenWindowOptions, WindowOptions } from './windows/options.js'
export type * from './windows/report.js'
