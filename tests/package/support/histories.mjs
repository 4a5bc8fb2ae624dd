// Generated histories of a context, applied to the context and to its model.
import { load } from './installed.mjs'
import { Model } from './model.mjs'
import { fc, list, nth, sometimes } from './property.mjs'
import { text } from './values.mjs'

const { Context, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

const tokens = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 30 }) },
)
/** An anchor: its position among the current messages, and among the anchors at that position. */
const addAnchor = fc.record({ do: fc.constant('addAnchor'), place: fc.nat(), afterExisting: fc.boolean() })
/** A message, at the end or at one of the current anchors. */
const append = fc.record({ do: fc.constant('append'), tokens, anchor: sometimes(0.5, fc.nat()) })

/** Special messages, by their tokens, and the messages appended at each anchor. */
export const histories = fc.record({
  system: sometimes(0.6, fc.nat({ max: 40 })),
  tools: sometimes(0.6, fc.nat({ max: 40 })),
  steps: list(0, 25, fc.oneof({ weight: 1, arbitrary: addAnchor }, { weight: 4, arbitrary: append })),
})

/** A context with a history, and the model of it. */
export function pairOf({ system, tools, steps }) {
  const special = (message, count) => (count === undefined ? undefined : { ...message, token_count: count })
  const systemPromptMessage = special(SystemPromptMessage.create('s'), system)
  const toolDefinitionsMessage = special(ToolDefinitionsMessage.create([]), tools)
  const context = Context.create({ systemPromptMessage, toolDefinitionsMessage })
  const model = Model.create({
    system: systemPromptMessage && { id: systemPromptMessage.id, tokens: system },
    tools: toolDefinitionsMessage && { id: toolDefinitionsMessage.id, tokens: tools },
  })
  for (const [index, step] of steps.entries()) {
    if (step.do === 'addAnchor') addTo({ context, model }, `anchor${index}`, step)
    else appendTo({ context, model }, { id: `m${index}`, tokens: step.tokens }, step.anchor)
  }
  return { context, model }
}

function addTo({ context, model }, name, { place, afterExisting }) {
  const index = place % (context.messageCount + 1)
  context.addAnchor(name, index, { afterExisting })
  model.addAnchor(name, index, afterExisting)
}

/** Appends a message to both, at the anchor with a number, or at the end. */
export function appendTo({ context, model }, { id, tokens }, number) {
  const anchor = number === undefined ? 'messages' : nth(context.anchorPoints, number)[0]
  context.append(text('x', { id, token_count: tokens }), anchor)
  model.append({ id, tokens }, anchor)
}
