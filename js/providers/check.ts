import { withCallerStack } from '../caller-stack.js'
import type { Provider, ProviderRule } from '../generated/lists.js'
import { type Context, handleOf } from '../session/context.js'
import { fromJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'
import { providers } from './loading.js'

/** A problem for which a provider would reject the context. */
export interface ProviderFinding {
  /** The rule that is broken. */
  readonly rule: ProviderRule
  /** The path of the field at fault, such as `messages[3].content[0].call_id`, in `context.messages`. */
  readonly path: string
  /** What is wrong. */
  readonly message: string
  /** What to do. */
  readonly fix: string
}

/**
 * Lists what a provider would reject in a context if it were sent now, ordered by position, then by rule. The list is frozen,
 * and empty if the provider would accept the context. Changes nothing.
 *
 * The context is checked as it would be sent without repairs, so a tool call that still waits for its result is a finding.
 * Parts that the provider has no field for, such as thinking without a signature, are not sent. They are findings only if
 * nothing else is left of the message, or if the provider requires them. In special messages, only what cannot be converted is
 * reported. Names and schemas of tool definitions are not checked, nor are limits of single models.
 *
 * If a context has no findings, neither has a window of it that keeps exchanges whole and begins with a user message, or that
 * keeps the last user message and the end of the conversation after it.
 *
 * @example
 * ```ts
 * import { check, Context } from 'peteos-session'
 *
 * const context = Context.create()
 * for (const { rule, path, fix } of check(context, 'anthropic')) console.log(rule, path, fix)
 * ```
 *
 * @throws {InvalidArgumentError} if `context` is not a `Context`, or if the provider is not known; lists the known ones.
 */
export const check = /* @__PURE__ */ withCallerStack(
  'check',
  (context: Context, provider: Provider): readonly ProviderFinding[] => {
    const handle = handleOf(context, 'context')
    rust().expectString(provider, 'provider')
    return fromJsonText(providers().check(handle.conversationText(), provider))
  },
)
