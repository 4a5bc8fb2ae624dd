// How each provider's API is spoken, and which lists of messages it refuses. `fault(body)` says what is wrong, or null;
// `prompt(body)` gives the text of the last message where that is a prompt, or null; `answer(reply)` wraps a reply.

const openAiChat = {
  path: /^\/v1\/chat\/completions$/,
  fault({ messages }) {
    let open = new Set()
    for (const [index, message] of messages.entries()) {
      if (message.role === 'tool') {
        if (!open.delete(message.tool_call_id))
          return `messages[${index}]: a tool message needs a call directly before it`
      } else {
        if (open.size > 0) return `messages[${index}]: the calls ${[...open].join()} have no tool messages`
        open = new Set(message.tool_calls?.map(({ id }) => id))
        if (open.size !== (message.tool_calls?.length ?? 0)) return `messages[${index}]: two calls have one id`
      }
    }
    return open.size > 0 ? `the calls ${[...open].join()} have no tool messages` : null
  },
  prompt: ({ messages }) => (messages.at(-1).role === 'user' ? textOf(messages.at(-1).content) : null),
  answer: ({ text, calls }) => {
    const tool_calls = calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) }
    return { choices: [{ index: 0, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', message }] }
  },
}

const openAiResponses = {
  path: /^\/v1\/responses$/,
  fault({ input }) {
    const open = new Set()
    for (const [index, item] of input.entries()) {
      if (item.type === 'function_call') {
        if (open.has(item.call_id)) return `input[${index}]: two calls have the id ${item.call_id}`
        open.add(item.call_id)
      }
      if (item.type === 'function_call_output' && !open.delete(item.call_id)) {
        return `input[${index}]: this output has no call ${item.call_id}`
      }
    }
    return open.size > 0 ? `the calls ${[...open].join()} have no output` : null
  },
  prompt: ({ input }) => (input.at(-1).role === 'user' ? textOf(input.at(-1).content) : null),
  answer({ text, calls }) {
    const says = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }
    const functionCalls = calls.map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }))
    return { output: [...(text === null ? [] : [says]), ...functionCalls] }
  },
}

const anthropic = {
  path: /^\/v1\/messages$/,
  fault({ messages }) {
    const turns = joined(messages, ({ content }) =>
      typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    )
    if (turns[0]?.role !== 'user') return 'messages: the first message must have the role user'
    let open = []
    for (const { role, parts } of turns) {
      const results = parts.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
      const missing = open.filter((id) => !results.includes(id))
      if (missing.length > 0) return `the calls ${missing.join()} have no results in the next message`
      const orphan = results.find((id) => !open.includes(id))
      if (orphan !== undefined) return `the result of ${orphan} has no call in the message before`
      if (new Set(results).size !== results.length) return 'a call has two results'
      if (results.length > 0 && parts.findLastIndex(({ type }) => type === 'tool_result') >= results.length) {
        return 'results must come first in their message'
      }
      open = role === 'assistant' ? parts.filter(({ type }) => type === 'tool_use').map(({ id }) => id) : []
    }
    return open.length > 0 ? `the calls ${open.join()} have no results` : null
  },
  prompt({ messages }) {
    const { role, content } = messages.at(-1)
    const isPrompt =
      role === 'user' && (typeof content === 'string' || content.every(({ type }) => type !== 'tool_result'))
    return isPrompt ? textOf(content) : null
  },
  answer({ text, calls }) {
    const says = text === null ? [] : [{ type: 'text', text }]
    const uses = calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
    return { role: 'assistant', stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', content: [...says, ...uses] }
  },
}

const gemini = {
  path: /^\/v1beta\/models\/[^/:]+:generateContent$/,
  fault({ contents }) {
    let before = null
    let open = 0
    for (const [index, { role, parts }] of contents.entries()) {
      const calls = parts.filter(({ functionCall }) => functionCall !== undefined).length
      const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined).length
      if (open !== responses)
        return `contents[${index}]: ${open} responses were expected for the calls before, found ${responses}`
      if (calls > 0 && before !== 'user') return `contents[${index}]: a call must follow a user turn or a response`
      open = calls
      before = role
    }
    return open > 0 ? `${open} calls have no response` : null
  },
  prompt({ contents }) {
    const { role, parts } = contents.at(-1)
    return role === 'user' && parts.every(({ text }) => text !== undefined)
      ? parts.map(({ text }) => text).join('')
      : null
  },
  answer({ text, calls }) {
    const says = text === null ? [] : [{ text }]
    const parts = [...says, ...calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } }))]
    return { candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }] }
  },
}

export const formats = [openAiChat, openAiResponses, anthropic, gemini]

/** Joins consecutive turns of the same role, as the API itself does. */
function joined(messages, partsOf) {
  const turns = []
  for (const message of messages) {
    const parts = partsOf(message)
    if (turns.at(-1)?.role === message.role) turns.at(-1).parts.push(...parts)
    else turns.push({ role: message.role, parts: [...parts] })
  }
  return turns
}

function textOf(content) {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}
