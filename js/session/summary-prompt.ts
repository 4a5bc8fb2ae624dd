import { withCallerStack } from '../caller-stack.js'
import type { SummaryRange } from '../room/steps.js'
import { toJsonText } from '../wasm/json-text.js'
import { type Context, handleOf } from './context.js'

/**
 * Returns a prompt that asks a model for a summary of messages, for {@link Context.summarize}: the task, and what the messages
 * say. Media are named, thinking is left out.
 *
 * @example
 * ```ts
 * import { Context, Message, summaryPrompt } from 'peteos-session'
 *
 * const context = Context.create()
 * const { id } = context.append(Message.create('user', 'My cat is called Mia.'))
 * console.log(summaryPrompt(context, { until: id }).endsWith('[user] My cat is called Mia.')) // true
 * ```
 *
 * @throws {InvalidArgumentError} if there is no such message, or if the range separates a tool call from its result.
 */
export const summaryPrompt = /* @__PURE__ */ withCallerStack(
  'summaryPrompt',
  (context: Context, range: SummaryRange): string => {
    return handleOf(context, 'context').summaryPrompt(toJsonText(range, 'range'))
  },
)
