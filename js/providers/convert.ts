import { withCallerStack } from '../caller-stack.js'
import { InvalidArgumentError } from '../errors.js'
import type { ProviderName } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import { Context, handleOf } from '../session/context.js'
import { FILE_LIMITS, type FileLimits } from '../session/limits.js'
import { fromJsonText, toJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import { providers } from './loading.js'
import type { ProviderRequests } from './requests.js'

const encoder = new TextEncoder()

/** Something that a conversion leaves out, or that means something else afterwards. */
export interface ConversionLoss {
  /** The path of the part or the message: in the context for `toMessages`, in the value for `fromMessages`. */
  readonly path: string
  /** The field of it; empty if it is lost as a whole. */
  readonly field: string
  /** What happened. */
  readonly message: string
}

/** The options of both conversions. */
export interface ConversionOptions {
  /**
   * Called for each thing that the conversion leaves out or changes in meaning, before it returns. What it throws is thrown.
   * Looking for losses costs about as much as the conversion; without a listener it is not done.
   */
  onLoss?: (loss: ConversionLoss) => void
}

/** Options of {@link fromMessages}. */
export interface FromMessagesOptions extends ConversionOptions, FileLimits {}

/** Options of {@link toMessages}. */
export interface ToMessagesOptions extends ConversionOptions {
  /**
   * Repairs what the provider would reject, instead of throwing. The context itself does not change. By default `false`.
   */
  repair?: boolean
}

/**
 * Converts a context to a provider's format. Returns the fields of a request that hold the messages, the system prompt and the
 * tools, to be spread into a request. Empty fields are left out, except the messages.
 *
 * `docs/providers.md` describes for each provider what goes where and what is not supported. The formats are those of
 * https://platform.openai.com/docs/api-reference/chat/create,
 * https://platform.openai.com/docs/api-reference/responses/create, https://docs.anthropic.com/en/api/messages,
 * https://ai.google.dev/api/generate-content and https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message.
 *
 * @example
 * ```ts
 * import { Context, toMessages } from 'peteos-session'
 *
 * const context = Context.create()
 * context.append({ role: 'user', content: [{ type: 'text', text: 'Hello' }] })
 * const request = { model: 'a-model', max_tokens: 1000, ...toMessages(context, 'anthropic') }
 * console.log(request.messages)
 * ```
 *
 * @param provider `'openai-chat'`, `'openai-responses'`, `'anthropic'`, `'gemini'` or `'ai-sdk'`.
 * @returns A plain object, which is not frozen. Changing it does not change the context.
 * @throws {InvalidArgumentError} for a part that the format does not support, or whose arguments are not a JSON object although
 * the format requires one. `argument` is the path of the field in the context, such as `messages[3].content[1].arguments`.
 * With `repair` there is no such error.
 */
export const toMessages = /* @__PURE__ */ withCallerStack(
  'toMessages',
  <P extends ProviderName>(context: Context, provider: P, options?: ToMessagesOptions): ProviderRequests[P] => {
    const { repair = false, onLoss } = readOptions(options, ['repair', 'onLoss'], 'toMessages')
    checkListener(onLoss)
    const handle = handleOf(context, 'context')
    rust().expectString(provider, 'provider')
    rust().expectBoolean(repair, 'options.repair')
    const conversation = handle.conversationText()
    const text = providers().toMessages(conversation, provider, repair)
    report(onLoss, () => providers().lossesOfWriting(conversation, provider, repair))
    return JSON.parse(text) as ProviderRequests[P]
  },
)

/**
 * Creates a context from a conversation in a provider's format: the result of {@link toMessages}, any other request body, or a
 * bare list of messages. The system prompt and the tools become the special messages. Ids and times are new. Calls with a
 * result are `approved`, others `pending`; results are `executed`.
 *
 * @example
 * ```ts
 * import { fromMessages } from 'peteos-session'
 *
 * const context = fromMessages([{ role: 'user', content: 'Hello' }], 'openai-chat')
 * console.log(context.messageCount)
 * ```
 *
 * @throws {InvalidArgumentError} for a field that the format does not allow, or that a context cannot hold. `argument` is the
 * path of the field, such as `value.messages[2].tool_calls[0].function.name`.
 * @throws {FileTooLargeError} if the file of the context would exceed a limit.
 */
export const fromMessages = /* @__PURE__ */ withCallerStack(
  'fromMessages',
  (value: object, provider: ProviderName, options?: FromMessagesOptions): Context => {
    const { onLoss, ...limits } = readOptions(options, [...FILE_LIMITS, 'onLoss'], 'fromMessages')
    checkListener(onLoss)
    const request = encoder.encode(toJsonText(value, 'value'))
    const { ContextHandle, expectString } = rust()
    expectString(provider, 'provider')
    const conversation = providers().fromMessages(request, provider)
    const context = Context.wrap(ContextHandle.fromConversation(conversation, limits))
    report(onLoss, () => providers().lossesOfReading(request, provider))
    return context
  },
)

function checkListener(onLoss: unknown): void {
  if (onLoss === undefined || typeof onLoss === 'function') return
  const argument = 'options.onLoss'
  throw new InvalidArgumentError(`${argument}: expected a function`, { argument })
}

/** Calls a listener, if there is one, with each of the losses. */
function report(onLoss: ConversionOptions['onLoss'], losses: () => string): void {
  if (onLoss === undefined) return
  for (const loss of fromJsonText<ConversionLoss[]>(losses())) onLoss(loss)
}
