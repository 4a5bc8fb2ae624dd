import { withCallerStack } from '../caller-stack.js'
import type { ProviderName } from '../generated/lists.js'
import { rust } from '../wasm/runtime.js'
import { providers } from './loading.js'
import type { Trimmed, TrimOptions } from './trim-types.js'

/**
 * Drops the oldest messages of an array in a provider's format, so that the rest fits a limit. The decision is that of a
 * window over the same messages: a tool call and its result stay together, and with the boundary `'turn'`, the default, the
 * first message that is kept after the system messages is a prompt. System messages at the front are always kept.
 *
 * What is learned about a message is cached for its object, until its contents change.
 *
 * @example
 * ```ts
 * import { trimMessages } from 'peteos-session'
 *
 * const history = [
 *   { role: 'system', content: 'Be brief.' },
 *   { role: 'user', content: 'A question' },
 *   { role: 'assistant', content: 'An answer' },
 *   { role: 'user', content: 'Another question' },
 * ]
 * const { messages, dropped } = trimMessages(history, 'openai-chat', { maxMessages: 1 })
 * console.log(messages.length, dropped.length) // 2 2
 * ```
 *
 * @param messages Messages, items of Responses, or contents of Gemini.
 * @throws {WindowTooSmallError} if what must be kept does not fit.
 * @throws {InvalidArgumentError} for an invalid option, or an array item that is no message; `argument` is its path.
 */
export const trimMessages = /* @__PURE__ */ withCallerStack(
  'trimMessages',
  <M>(messages: readonly M[], provider: ProviderName, options: TrimOptions<M>): Trimmed<M> => {
    rust().expectString(provider, 'provider')
    return providers().trim(messages, provider, options)
  },
)
