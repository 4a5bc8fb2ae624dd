import { withCallerStack } from '../caller-stack.js'
import { readOptions } from '../read-options.js'
import { Context, handleOf } from '../session/context.js'
import { toJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import type { ProviderName, ProviderRequests } from './requests.js'

/** Options of {@link toMessages}. */
export interface ToMessagesOptions {
  /**
   * Mend what the provider would refuse instead of throwing. The context itself is never changed. By default `false`.
   */
  repair?: boolean
}

/**
 * The conversation of a context as a provider takes it: an object of those fields of a request that hold the messages,
 * the system prompt and the tools, to be spread into a request. A field that would be empty is absent, except the
 * messages.
 *
 * `docs/providers.md` says for each provider what goes where, and what has no place. The formats are those of
 * https://platform.openai.com/docs/api-reference/chat/create,
 * https://platform.openai.com/docs/api-reference/responses/create, https://docs.anthropic.com/en/api/messages,
 * https://ai.google.dev/api/generate-content and https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message.
 *
 * @param provider `'openai-chat'`, `'openai-responses'`, `'anthropic'`, `'gemini'` or `'ai-sdk'`.
 * @returns A plain object that is the caller's: it is not frozen, and changing it changes nothing here.
 * @throws {InvalidArgumentError} for a part that has no place in the format, or whose arguments are not the JSON text of
 * an object where the format wants one; `argument` is the way to it in the context, such as
 * `messages[3].content[1].arguments`. With `repair` there is no such error.
 */
export const toMessages = /* @__PURE__ */ withCallerStack(
  'toMessages',
  <P extends ProviderName>(context: Context, provider: P, options?: ToMessagesOptions): ProviderRequests[P] => {
    const { repair = false } = readOptions(options, ['repair'], 'toMessages')
    const text = rust().toMessages(handleOf(context, 'context'), provider, repair)
    return JSON.parse(text) as ProviderRequests[P]
  },
)

/**
 * A new context of a conversation in a provider's format: what {@link toMessages} gives, any other body of a request,
 * or the bare list of its messages. The system prompt and the tools become the special messages; ids and times are made
 * anew. Calls that have a result are `approved`, others `pending`; results are `executed`.
 *
 * @throws {InvalidArgumentError} for a field that is not what the format says, or that a context has no place for;
 * `argument` is the way to it, such as `value.messages[2].tool_calls[0].function.name`.
 */
export const fromMessages = /* @__PURE__ */ withCallerStack(
  'fromMessages',
  (value: object, provider: ProviderName): Context => {
    const text = toJsonText(value, 'value')
    return Context.wrap(rust().fromMessages(text, provider))
  },
)
