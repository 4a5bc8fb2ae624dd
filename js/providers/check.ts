import { withCallerStack } from '../caller-stack.js'
import type { Provider, ProviderRule } from '../generated/lists.js'
import { type Context, handleOf } from '../session/context.js'
import { fromJsonText } from '../wasm/json-text.js'
import { rust } from '../wasm/runtime.js'

/** Something that a provider would refuse. */
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
 * What a provider would refuse in a context if it was sent now: frozen, by place, then by rule; empty if the provider would
 * accept it. Changes nothing.
 *
 * The context is checked as it is sent without a repair, so a tool call whose result is still to come is a finding as well.
 * What a provider has no field for, such as thinking without a signature, is not sent. That is no finding, unless nothing is
 * left of its message or the provider wants it back. In the special messages, only what cannot be converted is found. Names and
 * schemas of tool definitions are not checked, nor what only some models refuse.
 *
 * A context without findings has none after a window that keeps exchanges whole and begins with a message of the user, or that
 * keeps the last of those and an end after it.
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
    return fromJsonText(rust().checkForProvider(handleOf(context, 'context'), provider))
  },
)
