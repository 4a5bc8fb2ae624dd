// The conversation that remains after a round trip through the format of a provider, as docs/providers.md describes it.

/** What each format loses and changes; the rest of this file applies it. */
export const FORMS = {
  'openai-chat': {
    keeps: { image: ['detail'], pdf: ['filename'], tool: ['strict'] },
    keepsThinking: () => false,
    // Content comes before calls in a message.
    ordersCallsLast: true,
    joinsResults: 'neighbours',
  },
  'openai-responses': {
    keeps: {
      image: ['detail'],
      pdf: ['filename'],
      thinking: ['id', 'encrypted_content'],
      said: ['item_id', 'phase'],
      tool_use: ['item_id'],
    },
    keepsThinking: ({ id }) => id !== undefined,
    keepsStrictWhenTrue: true,
    joinsSystemTexts: true,
    joinsResults: 'neighbours',
    // The items of neighbouring messages of the assistant cannot be told apart.
    joinsAssistant: true,
    // An item without its reasoning must have no id.
    needsThinkingForIds: true,
  },
  anthropic: {
    keeps: {
      ...Object.fromEntries(['text', 'tool_use', 'tool_result', 'image'].map((type) => [type, ['cache_control']])),
      pdf: ['cache_control', 'title'],
      thinking: ['signature'],
      tool: ['strict'],
    },
    keepsThinking: ({ signature }) => signature !== undefined,
    keepsRedacted: true,
    keepsErrors: true,
    readsArguments: true,
    needsSchema: true,
    gathersSystem: true,
    joinsResults: 'turn',
  },
  gemini: {
    keeps: Object.fromEntries(
      ['text', 'thinking', 'tool_use', 'image', 'video', 'audio', 'pdf'].map((type) => [type, ['thought_signature']]),
    ),
    keepsThinking: ({ text, thought_signature }) => text !== '' || thought_signature !== undefined,
    keepsErrors: true,
    readsArguments: true,
    namesMediaTypes: true,
    gathersSystem: true,
    // Only parts of the conversation have signatures.
    plainSystem: true,
    joinsResults: 'turn',
  },
  'ai-sdk': {
    keeps: {
      ...Object.fromEntries(
        ['text', 'thinking', 'tool_use', 'tool_result', 'image', 'video', 'audio'].map((type) => [
          type,
          ['provider_options'],
        ]),
      ),
      pdf: ['provider_options', 'filename'],
    },
    keepsThinking: () => true,
    keepsErrors: true,
    readsArguments: true,
    needsSchema: true,
    namesMediaTypes: true,
    joinsSystemTexts: true,
    // A system message is one text.
    joinsTextsOfSystemMessages: true,
    joinsResults: 'never',
  },
}

const BASE = {
  text: ['type', 'text'],
  thinking: ['type', 'text'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'call_id', 'name', 'arguments'],
  tool_result: ['type', 'call_id', 'content'],
  tool: ['type', 'name', 'description', 'parameters'],
}
const MEDIA_TYPES = {
  gif: 'image/gif',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  // The URL does not tell the media type.
  watch: 'video/mp4',
}

/** A conversation after the round trip. */
export function normalForm({ system, tools, messages }, format) {
  const form = FORMS[format]
  const answered = new Set(
    messages
      .flatMap(({ content }) => content)
      .filter(isResult)
      .map(({ call_id }) => call_id),
  )
  const turns = messages.flatMap(turnsOf).map(({ role, parts, ...rest }) => ({
    role,
    parts: inOrder(
      parts.filter((part) => isKept(part, form)),
      form,
    ).map((part) => kept(part, form, role, answered)),
    ...rest,
  }))
  const late = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool'))
  const definitions = [...(tools ?? []), ...late].map((tool) => keptTool(tool, form))
  let prompt = (system ?? []).map((part) =>
    form.plainSystem || form.joinsSystemTexts ? plain(part) : kept(part, form, 'system'),
  )
  if (form.joinsSystemTexts && prompt.length > 0) prompt = [joined(prompt)]
  if (form.gathersSystem) prompt.push(...turns.filter(({ role }) => role === 'system').flatMap(({ parts }) => parts))
  if (form.needsThinkingForIds) dropLoneIds(turns)
  return {
    system: prompt.length > 0 ? prompt : null,
    tools: definitions.length > 0 ? definitions : null,
    messages: joinedTurns(
      turns.filter(({ role }) => !(form.gathersSystem && role === 'system')),
      form,
    ).map(({ role, parts }) => ({
      role,
      content: role === 'system' && form.joinsTextsOfSystemMessages ? [joined(parts)] : parts,
    })),
  }
}

const isResult = ({ type }) => type === 'tool_result'
const plain = ({ type, text }) => ({ type, text })
const joined = (parts) => ({ type: 'text', text: parts.map(({ text }) => text).join('\n\n') })

/** Results become messages of their own, before the rest of their message; tool parts are dropped. */
function turnsOf({ role, content }, message) {
  const parts = content.filter(({ type }) => type !== 'tool')
  const isDefinitions = parts.length === 0 && (role === 'tool' || content.length > 0)
  if (isDefinitions) return []
  const results = parts.filter(isResult)
  const others = parts.filter((part) => !isResult(part))
  const turns = []
  if (results.length > 0) turns.push({ role: 'tool_result', parts: results, message })
  if (others.length > 0 || results.length === 0) {
    turns.push({ role: ['assistant', 'system'].includes(role) ? role : 'user', parts: others, message })
  }
  return turns
}

function isKept(part, form) {
  if (part.type === 'thinking') return form.keepsThinking(part)
  return part.type !== 'redacted_thinking' || Boolean(form.keepsRedacted)
}

function inOrder(parts, { ordersCallsLast }) {
  if (!ordersCallsLast) return parts
  const isCall = ({ type }) => type === 'tool_use'
  return [...parts.filter((part) => !isCall(part)), ...parts.filter(isCall)]
}

function kept(part, form, role, answered) {
  const keys = [...(BASE[part.type] ?? ['type', 'source']), ...(form.keeps[part.type] ?? [])]
  if (part.type === 'text' && role === 'assistant') keys.push(...(form.keeps.said ?? []))
  const result = role === 'system' && form.keeps.text?.[0] !== 'cache_control' ? plain(part) : pick(part, keys)
  if (part.type === 'tool_use') {
    if (form.readsArguments) result.arguments = JSON.stringify(JSON.parse(part.arguments))
    result.approval_status = answered.has(part.call_id) ? 'approved' : 'pending'
  }
  if (isResult(part)) {
    result.execution_status = 'executed'
    if (form.keepsErrors && part.is_error) result.is_error = true
  }
  if (form.namesMediaTypes && part.source?.type === 'url') {
    const [ending] = part.source.url.match(/\w+(?=$|\?)/)
    result.source = { ...part.source, media_type: MEDIA_TYPES[ending] }
  }
  return result
}

function keptTool(tool, form) {
  const result = pick(tool, [...BASE.tool, ...(form.keeps.tool ?? [])])
  if (form.keepsStrictWhenTrue && tool.strict) result.strict = true
  if (form.needsSchema) {
    result.parameters = tool.parameters ? { type: 'object', ...tool.parameters } : { type: 'object', properties: {} }
  }
  return result
}

function dropLoneIds(turns) {
  let hasThought = false
  for (const { role, parts } of turns) {
    hasThought &&= role === 'assistant'
    for (const part of parts) {
      if (part.type === 'thinking') hasThought = true
      if (!hasThought) delete part.item_id
    }
  }
}

function pick(object, keys) {
  return Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]))
}

function joinedTurns(turns, form) {
  const result = []
  for (const turn of turns) {
    const last = result.at(-1)
    const isTurnOfResults = last?.role === 'tool_result'
    if (form.joinsResults === 'neighbours' && isTurnOfResults && turn.role === 'tool_result') {
      last.parts.push(...turn.parts)
    } else if (form.joinsResults === 'turn' && isTurnOfResults && turn.role === 'tool_result') {
      const results = last.parts.filter(isResult)
      last.parts = [...results, ...turn.parts, ...last.parts.slice(results.length)]
      last.message = turn.message
    } else if (
      form.joinsResults === 'turn' &&
      isTurnOfResults &&
      turn.role === 'user' &&
      last.message === turn.message
    ) {
      last.parts.push(...turn.parts)
    } else if (
      form.joinsAssistant &&
      turn.role === 'assistant' &&
      last?.role === 'assistant' &&
      last.parts.length &&
      turn.parts.length
    ) {
      last.parts.push(...turn.parts)
    } else {
      result.push({ ...turn, parts: [...turn.parts] })
    }
  }
  return result
}
