// Generated from the lists in Rust by `UPDATE_LISTS=1 cargo test --test lists`. Do not edit.

/** The encodings of tiktoken. `gpt2` is another name of `r50k_base`. */
export type EncodingName =
  | 'r50k_base'
  | 'p50k_base'
  | 'p50k_edit'
  | 'cl100k_base'
  | 'o200k_base'
  | 'o200k_harmony'
  | 'gpt2'

/** What `Session.check` looks for. The names are stable. `docs/damage.md` describes each. */
export type FindingRule =
  /** There are files of contexts, but no `session.json`. */
  | 'missing-session-file'
  /** The storage could not read the file. */
  | 'unreadable-file'
  /** The file has more bytes or values than the limit. */
  | 'file-too-large'
  /** The file is empty. */
  | 'empty-file'
  /** The file contains NUL bytes. */
  | 'nul-bytes'
  /** The text is truncated. */
  | 'torn-file'
  /** `NaN` or `Infinity`, which are not JSON. */
  | 'non-finite-number'
  /** The text is not valid JSON for another reason, or exceeds the limit of nesting. */
  | 'not-json'
  /** A field has the wrong shape. */
  | 'wrong-shape'
  /** The uuid is not the name of the directory. */
  | 'uuid-mismatch'
  /** The id is not the name of the file. */
  | 'id-mismatch'
  /** The active context has no file. */
  | 'dangling-active-context'
  /** A child has no file. */
  | 'dangling-child'
  /** The origin of a fork has no file. */
  | 'dangling-origin'
  /** Neither `session.json` nor another context names the context. */
  | 'unnamed-context'
  /** An anchor is past the last message. */
  | 'anchor-out-of-range'
  /** The index of an anchor is lower than that of the anchor before it. */
  | 'anchors-not-ascending'
  /** Two anchors have the same name. */
  | 'duplicate-anchor'
  /** A counter is lower than what it counts. */
  | 'counter-lags'
  /** Two messages have the same id. */
  | 'duplicate-message-id'
  /** Two messages have the same sequence number. */
  | 'duplicate-sequence-number'
  /** No message has the id of the special message. */
  | 'dangling-special-message'
  /** The message named as special has the wrong position or type. */
  | 'misplaced-special-message'
  /** The conversation continues after a tool call without its result. */
  | 'call-without-result'
  /** A tool result without its call. */
  | 'result-without-call'
  /** An escape of an unpaired surrogate. */
  | 'lone-surrogate'
  /** A key that an object has twice. */
  | 'duplicate-key'
  /** The file begins with a byte order mark. */
  | 'byte-order-mark'
  /** A temporary file of a write that was killed. */
  | 'leftover-file'
  /** A copy that a repair kept. */
  | 'kept-copy'
  /** A file that is not part of the format. */
  | 'other-file'

/** The classes of the errors that Rust creates. */
export type ErrorClass =
  /** A bug in this library. */
  | 'SessionError'
  /** `session.json` does not exist. */
  | 'SessionNotFoundError'
  /** The session has no context with this id. */
  | 'ContextNotFoundError'
  /** A file is not a valid session or context. */
  | 'CorruptSessionError'
  /** A file is larger than the limit. */
  | 'FileTooLargeError'
  /** An operation needs more memory than is left. */
  | 'MemoryLimitError'
  /** An argument or option is invalid. */
  | 'InvalidArgumentError'
  /** A message has the wrong shape. */
  | 'InvalidMessageError'
  /** An encoding or a model is unknown. */
  | 'UnknownEncodingError'
  /** The vocabulary of an encoding is not loaded. */
  | 'EncodingNotLoadedError'
  /** The limit of a window is too small for the messages that it must keep. */
  | 'WindowTooSmallError'
  /** A summary has as many tokens as what it stands for. */
  | 'NoSavingError'
  /** The storage failed. */
  | 'StorageError'
  /** Another writer has changed a file, or a variable has another value than expected. */
  | 'ConflictError'

/** How severe a finding is. */
export type Severity = 'error' | 'warning' | 'info'

/** What a window must not split. The default is `'message'`. */
export type Boundary =
  /** Nothing: a window may begin at any message. */
  | 'message'
  /** An exchange: a message with tool calls and the messages with their results are kept or dropped together. */
  | 'exchange'
  /** An exchange, and the window begins at a message of the user that is not a tool result. */
  | 'turn'

/** The kinds of parts, as tokens are summed up by them. */
export type PartKind = 'text' | 'thinking' | 'toolCall' | 'toolResult' | 'media' | 'toolDefinition' | 'other'

/** What a step does to make room. The names are stable. `docs/making-room.md` describes each. */
export type StepKind =
  /** Replaces the content of old tool results by a short text. */
  | 'clear-tool-results'
  /** Leaves out the thinking of earlier turns. */
  | 'clear-thinking'
  /** Replaces old media by notes. */
  | 'clear-media'
  /** Shortens long texts in the middle. */
  | 'elide'
  /** Replaces results that a later result repeats. */
  | 'dedupe-tool-results'
  /** Puts a text in the place of messages. */
  | 'summarize'
  /** Drops the oldest messages beyond a number. */
  | 'sequence-window'
  /** Drops the oldest messages beyond a token budget. */
  | 'token-window'

/** Why a window keeps or drops a message. The names are stable. */
export type WindowReason =
  /** Kept: the system prompt or the tool definitions. */
  | 'special'
  /** Kept: the caller pinned it. */
  | 'pinned'
  /** Kept: it belongs to the exchange of a pinned message. */
  | 'pinned-exchange'
  /** Kept: the prompt that the kept messages of the assistant answer. */
  | 'prompt'
  /** Kept: it is one of the newest. */
  | 'recent'
  /** Dropped: with it, the newer messages and what is kept anyway would exceed the limit. */
  | 'over-limit'
  /** Dropped: it would fit, but its exchange would not, or an exchange around it. */
  | 'exchange'
  /** Dropped: it would fit, but the window would not begin at a prompt. */
  | 'turn'
  /** Dropped: it would fit, but the window cuts down to the lower mark. */
  | 'lower-mark'

/** What is wrong with a tool call or a tool result in a window report. The names are stable. */
export type WindowProblem =
  /** A tool call without a result, after which the assistant has spoken. */
  | 'call-without-result'
  /** A tool result that no call precedes. */
  | 'result-without-call'

/** The formats that a conversation can be converted to and from. */
export type ProviderName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini' | 'ai-sdk'

/** A provider whose rules `check` knows. */
export type Provider = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini'

/** What `check` looks for. The names are stable. `docs/provider-rules.md` says which provider has which rule. */
export type ProviderRule =
  /** No message but special ones. */
  | 'no-messages'
  /** A role that no format supports; the roles are `user`, `assistant`, `system`, `developer`, `tool` and `tool_result`. */
  | 'unknown-role'
  /** The conversation does not begin with the user. */
  | 'wrong-first-role'
  /** Two turns of the assistant in a row, the second with calls. */
  | 'repeated-role'
  /** A tool call in a message that is not the assistant's, which no format supports. */
  | 'misplaced-call'
  /** A call without a result. */
  | 'missing-result'
  /** A result that no call precedes. The sources are those of [`Rule::MissingResult`]. */
  | 'orphan-result'
  /** A result that is not directly after its call, or is in a message of the assistant or the system. */
  | 'misplaced-result'
  /** A second result of one call. */
  | 'duplicate-result'
  /** A `call_id` that two calls share: in one message everywhere, in the whole conversation for Anthropic and Responses. */
  | 'duplicate-call-id'
  /** A `call_id` that the provider does not accept. */
  | 'invalid-call-id'
  /** A name of a called tool that the provider does not accept. */
  | 'invalid-name'
  /** Arguments of a call that are not a JSON object. */
  | 'invalid-arguments'
  /** A part that lacks what its type needs, such as a text without `text`. No format can express it. */
  | 'invalid-part'
  /** A part of a type that no format supports. */
  | 'unknown-part'
  /** An image, video, audio or PDF that the provider does not accept, or not in a message of this role. */
  | 'unsupported-media'
  /** A message without content, or an empty text. */
  | 'empty-content'
  /** Thinking that nothing follows. */
  | 'thinking-alone'
  /** Thinking that the provider wants back with its calls, and that cannot be sent. */
  | 'thinking-removed'
  /** A last message of the assistant that ends with white space. Anthropic would have to continue it, and refuses. */
  | 'trailing-whitespace'
