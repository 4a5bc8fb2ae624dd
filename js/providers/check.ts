import { withCallerStack } from '../caller-stack.js'
import { type Context, handleOf } from '../session/context.js'
import { fromJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'

/**
 * A provider whose rules {@link check} knows: OpenAI's Chat Completions and Responses, Anthropic's Messages, and Google's
 * `generateContent`.
 */
export type Provider = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini'

/**
 * What {@link check} looks for; the names are stable. docs/provider-rules.md says which provider has which rule, what a
 * repair makes of it, and where it is written down.
 */
export type ProviderRule =
  /** There is no message but special ones. */
  | 'no-messages'
  /** No format has a place for the role. */
  | 'unknown-role'
  /** The conversation does not begin with the user. */
  | 'wrong-first-role'
  /** Two turns of the assistant in a row, the second with tool calls. */
  | 'repeated-role'
  /** A tool call in a message that is not of the assistant. */
  | 'misplaced-call'
  /** A tool call without a result, even where it may still come. */
  | 'missing-result'
  /** A result whose call is not before it. */
  | 'orphan-result'
  /** A result that is not directly after its call, or in a message of the assistant or the system. */
  | 'misplaced-result'
  /** A second result of one call. */
  | 'duplicate-result'
  /** A `call_id` that another call has. */
  | 'duplicate-call-id'
  /** A `call_id` with characters, or of a length, that are refused. */
  | 'invalid-call-id'
  /** The name of a tool with characters, or of a length, that are refused. */
  | 'invalid-name'
  /** Arguments that are no JSON object. */
  | 'invalid-arguments'
  /** A part lacks what its type needs. */
  | 'invalid-part'
  /** No format has a place for the type of a part. */
  | 'unknown-part'
  /** An image, video, sound or PDF that is not taken, or not there. */
  | 'unsupported-media'
  /** A message that says nothing, or an empty text. */
  | 'empty-content'
  /** Thinking after which nothing comes. */
  | 'thinking-alone'
  /** Thinking that has to be handed back with its tool calls, and cannot be. */
  | 'thinking-removed'
  /** A last message of the assistant that ends with white space. */
  | 'trailing-whitespace'

/** Something that a provider would refuse. */
export interface ProviderFinding {
  /** What was looked for. */
  readonly rule: ProviderRule
  /** The field at fault, such as `messages[3].content[0].call_id`, as in `context.messages`. */
  readonly path: string
  /** What is wrong. */
  readonly message: string
  /** What to do. */
  readonly fix: string
}

/**
 * What a provider would refuse in a context if it was sent now: frozen, by place, then by rule; empty where it would be
 * taken. Changes nothing.
 *
 * The context is judged as it is handed over without a repair, so that a tool call whose result is still to come is found
 * as well. What a provider has no field for, such as thinking without a signature, is left out then and is no fault,
 * unless nothing is left of its message or the provider wants it back. Of the special
 * messages only what cannot be converted is found. Names and schemas of tool definitions, and what only some models
 * refuse, are not judged.
 *
 * A context without findings has none after a window that keeps exchanges whole and begins with a message of the user, or
 * that keeps the last of those and an end after it.
 *
 * @throws {InvalidArgumentError} for what is no `Context`, or a provider that is not known; names those that are.
 */
export const check = /* @__PURE__ */ withCallerStack(
  'check',
  (context: Context, provider: Provider): readonly ProviderFinding[] => {
    return fromJsonText(rust().checkForProvider(handleOf(context, 'context'), provider))
  },
)
