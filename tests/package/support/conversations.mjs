// Generated conversations of every kind, for tests of the formats of providers.
import { fc, fields, list, merged, sometimes } from './property.mjs'

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

/** The media that a format accepts from the user, each the type of a part and its source. */
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
/** The formats that accept media from the assistant. */
const SHOWS_MEDIA = ['gemini', 'ai-sdk']

const cacheControl = fields({ type: fc.constant('ephemeral'), ttl: sometimes(0.5, fc.constant('1h')) })

const text = fields({
  type: fc.constant('text'),
  text: fc.constantFrom(...WORDS),
  cache_control: sometimes(0.1, cacheControl),
  provider_options: sometimes(0.1, fc.constant({ acme: { mark: 1 } })),
  thought_signature: sometimes(0.1, fc.constant('c2ln')),
  mood: sometimes(0.1, fc.constant('good')),
})

// `#` stands for a unique number.

const answer = merged(
  text,
  sometimes(0.2, fields({ item_id: fc.constant('msg_#'), phase: sometimes(0.5, fc.constant('commentary')) })),
)

const thinking = merged(
  fields({
    type: fc.constant('thinking'),
    text: fc.constantFrom(...WORDS),
    signature: sometimes(0.5, fc.constant('c2ln')),
    thought_signature: sometimes(0.3, fc.constant('c2ln')),
    provider_options: sometimes(0.3, fc.constant({ acme: { signature: 'x' } })),
  }),
  sometimes(0.5, fields({ id: fc.constant('rs_#'), encrypted_content: sometimes(0.5, fc.constant('ZW5j')) })),
)

const call = fields({
  type: fc.constant('tool_use'),
  call_id: fc.constant('call-#'),
  name: fc.constantFrom('add', 'search', 'read_file'),
  arguments: fc.constantFrom(...ARGUMENTS),
  item_id: sometimes(0.2, fc.constant('fc_#')),
  thought_signature: sometimes(0.2, fc.constant('c2ln')),
})

const result = fields({
  type: fc.constant('tool_result'),
  content: fc.constantFrom(...RESULTS),
  is_error: sometimes(0.2, fc.constant(true)),
  cache_control: sometimes(0.1, fc.constant({ type: 'ephemeral' })),
})

const tool = fields({
  type: fc.constant('tool'),
  description: sometimes(0.8, fc.constantFrom('Does it', 'Does 世界')),
  parameters: sometimes(0.8, fc.constantFrom(...SCHEMAS)),
  strict: sometimes(0.2, fc.boolean()),
})

/** Calls of the assistant, and the messages with their results. */
const round = (medium) =>
  fc.record({
    thinking: list(0, 1, thinking),
    redacted: list(0, 1, fc.constant({ type: 'redacted_thinking', data: 'eHg=' })),
    before: list(0, 2, answer),
    media: medium === null ? fc.constant([]) : list(0, 1, medium),
    // The last call of a conversation may wait for its result.
    calls: list(0, 3, fc.record({ call, result: sometimes(0.9, result) })),
    after: list(0, 1, answer),
    isReversed: fc.boolean(),
    results: list(
      3,
      3,
      fc.record({
        most: fc.integer({ min: 1, max: 3 }),
        role: fc.constantFrom('tool_result', 'tool_result', 'tool', 'user'),
        beside: sometimes(0.2, text),
        isTextFirst: fc.boolean(),
      }),
    ),
  })

const turn = (format) => {
  const medium = merged(
    fc.constantFrom(...MEDIA[format]),
    sometimes(0.2, fc.constant({ cache_control: { type: 'ephemeral' } })),
  )
  return fc.record({
    system: sometimes(0.1, list(0, 2, text)),
    lateTool: sometimes(0.05, tool),
    question: list(0, 3, fc.oneof({ weight: 3, arbitrary: medium }, { weight: 7, arbitrary: text })),
    more: sometimes(0.1, text),
    rounds: list(0, 3, round(SHOWS_MEDIA.includes(format) ? medium : null)),
    answer: sometimes(0.8, fc.tuple(list(0, 1, thinking), list(0, 2, answer))),
  })
}

/**
 * Conversations that a format accepts unchanged: `{ system, tools, messages }`, where the first two are the parts of the
 * special messages or `null`. Every result follows its call; everything else is arbitrary.
 */
export const conversations = (format) =>
  fc
    .record({
      system: fc.option(list(1, 3, text)),
      tools: list(0, 3, tool),
      turns: list(0, 7, turn(format)),
    })
    .map(({ system, tools, turns }) => {
      const named = tools.map((each, index) => ({ ...each, name: ['add', 'search', 'read_file'][index] }))
      return { system, tools: named.length > 0 ? named : null, messages: messagesOf(turns) }
    })

function messagesOf(turns) {
  const messages = []
  let ids = 0
  const withIds = (part) =>
    Object.fromEntries(
      Object.entries(part).map(([key, value]) => [
        key,
        ['id', 'item_id', 'call_id'].includes(key) ? value.replace('#', () => ++ids) : value,
      ]),
    )
  const push = (role, content) => messages.push({ role, content: content.map(withIds) })
  for (const [index, turn] of turns.entries()) {
    if (turn.system && messages.length > 0) push('system', turn.system)
    if (turn.lateTool) push('tool', [{ ...turn.lateTool, name: `late_${index}` }])
    push('user', turn.question)
    if (turn.more) push('user', [turn.more])
    for (const { thinking, redacted, before, media, calls, after, isReversed, results } of turn.rounds) {
      const made = calls.map(({ call, result }) => ({ call: withIds(call), result }))
      push('assistant', [...thinking, ...redacted, ...before, ...media, ...made.map(({ call }) => call), ...after])
      const answered = made.flatMap(({ call, result }) => (result ? [{ ...result, call_id: call.call_id }] : []))
      if (isReversed) answered.reverse()
      for (const { most, role, beside, isTextFirst } of results) {
        if (answered.length === 0) break
        const texts = beside ? [beside] : []
        const taken = answered.splice(0, most)
        push(role, isTextFirst ? [...texts, ...taken] : [...taken, ...texts])
      }
    }
    if (turn.answer) push('assistant', turn.answer.flat())
  }
  return messages
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

/** The conversation of a context, without ids and times, which are generated. */
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
