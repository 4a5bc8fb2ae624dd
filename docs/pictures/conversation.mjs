// The conversation that the pictures show, and how they describe its messages.

/** An agent repairs a program: two turns, the second with four tool calls. */
export function conversation({ ContentPart, Context, Message, SystemPromptMessage }) {
  const system = SystemPromptMessage.create('You repair programs. Run the tests before and after every change.')
  const context = Context.create({ systemPromptMessage: system })
  const say = (role, ...parts) => context.append(Message.create(role, parts))
  const { text, thinking, toolResult, toolUse } = ContentPart
  say('user', text('Which tests fail?'))
  say('assistant', toolUse('call_1', 'run_tests', { only: 'all' }))
  say('tool_result', toolResult('call_1', '2 of 118 tests failed: parser, writer'))
  say('assistant', text('Two: one in the parser and one in the writer.'))
  say('user', text('Fix both, please.'))
  say(
    'assistant',
    thinking('I read both files first.'),
    toolUse('call_2', 'read', { path: 'parser.js' }),
    toolUse('call_3', 'read', { path: 'writer.js' }),
  )
  say('tool_result', toolResult('call_2', 'export function parse(text) { return text.split(",") }'))
  say('tool_result', toolResult('call_3', 'export const write = (items) => items.join(", ")'))
  say(
    'assistant',
    text('They disagree about spaces.'),
    toolUse('call_4', 'edit', { path: 'writer.js', put: 'items.join(",")' }),
  )
  say('tool_result', toolResult('call_4', '1 line changed'))
  say('assistant', toolUse('call_5', 'run_tests', { only: 'all' }))
  say('tool_result', toolResult('call_5', '118 tests passed'))
  return context
}

/** The calls of a context, each with the position of its message and of the message with its result. */
export function callsOf(context) {
  const calls = new Map()
  context.messages.forEach((message, index) => {
    for (const part of message.content ?? []) {
      if (part.type === 'tool_use') calls.set(part.call_id, { call: index, result: index })
      if (part.type === 'tool_result') calls.get(part.call_id).result = index
    }
  })
  return [...calls.values()]
}

/** What a message says, in one line. */
export function label(message) {
  return message.content.map(describe).join(' · ')
}

function describe(part) {
  if (part.type === 'tool_use') return `calls ${part.name}(${Object.values(JSON.parse(part.arguments))[0]})`
  if (part.type === 'tool_result') return short(`result: ${part.content}`)
  return part.type === 'thinking' ? 'thinks' : short(part.text)
}

function short(text) {
  return text.length > 46 ? `${text.slice(0, 45)}…` : text
}
