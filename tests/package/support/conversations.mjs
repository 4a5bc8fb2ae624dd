// Conversations of every kind that the formats of providers are tested with.

const WORDS = [
  'yes',
  'no',
  '',
  ' ',
  'line\nbreak',
  '🙂 and ☕️',
  '"quoted"',
  '\\',
  '<b>',
  'null',
  '{"a":1}',
  'a longer text of several words',
]
const ARGUMENTS = [
  '{}',
  '{"a": 1}',
  '{"b":[1,2,{"c":null}],"d":"é"}',
  '{ "nested" : {"x":{"y":[[]]}} }',
  '{"n":1.5e3,"t":true}',
]
const RESULTS = ['', '5', '{"output": "x"}', '[1, 2]', 'many\nlines\n', '🙂']
const SCHEMAS = [
  undefined,
  {},
  { type: 'object' },
  { properties: { a: { type: 'string' } } },
  { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
]
const DATA = 'iVBORw0KGgo='

/** The media that a format takes of the user: each the type of a part and its source. */
const IMAGES = [
  { type: 'image', source: { type: 'base64', data: DATA, media_type: 'image/png' } },
  { type: 'image', source: { type: 'base64', data: DATA, media_type: 'image/webp' }, detail: 'high' },
  { type: 'image', source: { type: 'url', url: 'https://example.com/a.gif?size=1' } },
]
const PDF_DATA = { type: 'pdf', source: { type: 'base64', data: 'JVBERg==', media_type: 'application/pdf' } }
const PDFS = [PDF_DATA, { ...PDF_DATA, filename: 'plan.pdf', title: 'Plan' }]
const PDF_URL = { type: 'pdf', source: { type: 'url', url: 'https://example.com/plan.pdf' } }
const SOUNDS = [
  { type: 'audio', source: { type: 'base64', data: 'UklGRg==', media_type: 'audio/wav' } },
  { type: 'audio', source: { type: 'base64', data: 'SUQz', media_type: 'audio/mpeg' } },
]
const OTHERS = [
  { type: 'audio', source: { type: 'url', url: 'https://example.com/a.ogg' } },
  { type: 'video', source: { type: 'base64', data: 'AAAA', media_type: 'video/webm' } },
  { type: 'video', source: { type: 'url', url: 'https://example.com/watch' } },
]
export const MEDIA = {
  'openai-chat': [...IMAGES, ...PDFS, ...SOUNDS],
  'openai-responses': [...IMAGES, ...PDFS, PDF_URL],
  anthropic: [...IMAGES, ...PDFS, PDF_URL],
  gemini: [...IMAGES, ...PDFS, PDF_URL, ...SOUNDS, ...OTHERS],
  'ai-sdk': [...IMAGES, ...PDFS, PDF_URL, ...SOUNDS, ...OTHERS],
}
/** Those whose assistant may show media. */
const SHOWS_MEDIA = ['gemini', 'ai-sdk']

/**
 * A conversation that a format takes as it is: `{ system, tools, messages }`, the first two the parts of the special
 * messages or `null`. Every result follows its call; all else is as free as messages are.
 */
export function conversation(random, format) {
  let calls = 0
  const sometimes = (probability, fields) => (random.chance(probability) ? fields() : {})
  const list = (low, high, make) => Array.from({ length: random.integer(low, high) }, make)
  const text = () => ({
    type: 'text',
    text: random.pick(WORDS),
    ...sometimes(0.1, () => ({ cache_control: { type: 'ephemeral', ...sometimes(0.5, () => ({ ttl: '1h' })) } })),
    ...sometimes(0.1, () => ({ provider_options: { acme: { mark: 1 } } })),
    ...sometimes(0.1, () => ({ thought_signature: 'c2ln' })),
    ...sometimes(0.1, () => ({ mood: 'good' })),
  })
  const said = () => ({
    ...text(),
    ...sometimes(0.2, () => ({ item_id: `msg_${++calls}`, ...sometimes(0.5, () => ({ phase: 'commentary' })) })),
  })
  const thinking = () => ({
    type: 'thinking',
    text: random.pick(WORDS),
    ...sometimes(0.5, () => ({ signature: 'c2ln' })),
    ...sometimes(0.5, () => ({ id: `rs_${++calls}`, ...sometimes(0.5, () => ({ encrypted_content: 'ZW5j' })) })),
    ...sometimes(0.3, () => ({ thought_signature: 'c2ln' })),
    ...sometimes(0.3, () => ({ provider_options: { acme: { signature: 'x' } } })),
  })
  const medium = () => ({
    ...random.pick(MEDIA[format]),
    ...sometimes(0.2, () => ({ cache_control: { type: 'ephemeral' } })),
  })
  const call = () => ({
    type: 'tool_use',
    call_id: `call-${++calls}`,
    name: random.pick(['add', 'search', 'read_file']),
    arguments: random.pick(ARGUMENTS),
    ...sometimes(0.2, () => ({ item_id: `fc_${calls}` })),
    ...sometimes(0.2, () => ({ thought_signature: 'c2ln' })),
  })
  const result = ({ call_id }) => ({
    type: 'tool_result',
    call_id,
    content: random.pick(RESULTS),
    ...sometimes(0.2, () => ({ is_error: true })),
    ...sometimes(0.1, () => ({ cache_control: { type: 'ephemeral' } })),
  })
  const tool = (name) => ({
    type: 'tool',
    name,
    ...sometimes(0.8, () => ({ description: `Does ${name}` })),
    ...sometimes(0.8, () => ({ parameters: random.pick(SCHEMAS) })),
    ...sometimes(0.2, () => ({ strict: random.chance(0.5) })),
  })
  const messages = []
  const push = (role, content) => messages.push({ role, content })
  const turns = random.integer(0, 7)
  for (let turn = 0; turn < turns; turn++) {
    if (messages.length > 0 && random.chance(0.1)) push('system', list(0, 2, text))
    if (random.chance(0.05)) push('tool', [tool(`late_${turn}`)])
    push(
      'user',
      list(0, 3, () => (random.chance(0.3) ? medium() : text())),
    )
    if (random.chance(0.1)) push('user', [text()])
    while (random.chance(0.6)) {
      const made = list(0, 3, call)
      const media = SHOWS_MEDIA.includes(format) ? list(0, 1, medium) : []
      const redacted = random.chance(0.1) ? [{ type: 'redacted_thinking', data: 'eHg=' }] : []
      push('assistant', [
        ...list(0, 1, thinking),
        ...redacted,
        ...list(0, 2, said),
        ...media,
        ...made,
        ...list(0, 1, said),
      ])
      // The last call of a conversation may wait for its result.
      const answered = made.filter(() => random.chance(0.9))
      if (random.chance(0.5)) answered.reverse()
      while (answered.length > 0) {
        const results = answered.splice(0, random.integer(1, answered.length)).map(result)
        const beside = random.chance(0.2) ? [text()] : []
        push(
          random.pick(['tool_result', 'tool_result', 'tool', 'user']),
          random.chance(0.5) ? [...beside, ...results] : [...results, ...beside],
        )
      }
    }
    if (random.chance(0.8)) push('assistant', [...list(0, 1, thinking), ...list(0, 2, said)])
  }
  const names = ['add', 'search', 'read_file'].slice(random.integer(0, 3))
  return {
    system: random.chance(0.7) ? list(1, 3, text) : null,
    tools: names.length > 0 ? names.map(tool) : null,
    messages,
  }
}

/** The context of a conversation. */
export function contextOf({ Context }, { system, tools, messages }) {
  const context = Context.create({
    systemPromptMessage: system && { role: 'system', content: system },
    toolDefinitionsMessage: tools && { role: 'tool', content: tools },
  })
  for (const message of messages) context.append(message)
  return context
}

/** The conversation of a context, without the ids and times that are made anew. */
export function conversationOf(context) {
  const { systemPromptMessage: system, toolDefinitionsMessage: tools } = context
  return JSON.parse(
    JSON.stringify({
      system: system?.content ?? null,
      tools: tools?.content ?? null,
      messages: context.messages
        .filter((message) => message !== system && message !== tools)
        .map(({ role, content }) => ({ role, content })),
    }),
  )
}
