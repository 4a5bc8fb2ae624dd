// Conversations that break each rule of a provider, and repaired ones.
import { load } from './installed.mjs'

const { Context } = await load('peteos-session')

export const ALL = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const but = (...left) => ALL.filter((provider) => !left.includes(provider))

/** A context of messages as a file may hold them. */
export const context = (messages) => Context.fromDict({ ...Context.create().rawDict, messages })

export const text = (said) => ({ type: 'text', text: said })
export const thinking = (fields) => ({ type: 'thinking', text: 'Hm.', ...fields })
export const call = (id, fields) => ({ type: 'tool_use', call_id: id, name: 'look', arguments: '{}', ...fields })
export const result = (id) => ({ type: 'tool_result', call_id: id, content: 'seen' })
export const media = (type, source) => ({ type, source })

export const user = (...content) => ({ role: 'user', content })
export const assistant = (...content) => ({ role: 'assistant', content })
export const results = (...ids) => ({ role: 'tool_result', content: ids.map(result) })
export const prompt = user(text('Look!'))
export const answer = assistant(text('There.'))

const long = 'x'.repeat(65)
const video = media('video', { type: 'url', url: 'https://x.org/y.mp4' })
const bitmap = media('image', { type: 'base64', data: 'AA==', media_type: 'image/bmp' })

/** For each rule: the conversation, the providers that reject it, the path of the finding, and the repaired conversation. */
export const CASES = {
  'no-messages': [{ by: but('openai-responses'), path: 'messages', bad: [], good: [prompt] }],
  'unknown-role': [
    { by: ALL, path: 'messages[0].role', bad: [{ role: 'robot', content: [text('Hi')] }], good: [user(text('Hi'))] },
    { by: ALL, path: 'messages[0].role', bad: [{ content: [text('Hi')] }], good: [user(text('Hi'))] },
  ],
  'wrong-first-role': [
    { by: ['anthropic'], path: 'messages[0].role', bad: [answer, prompt], good: [prompt, answer, prompt] },
    {
      by: ['anthropic', 'gemini'],
      path: 'messages[0].role',
      bad: [assistant(call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
    {
      by: ['anthropic', 'gemini'],
      path: 'messages[1].role',
      bad: [{ role: 'system', content: [text('Be brief.')] }, assistant(call('a')), results('a')],
      good: [{ role: 'system', content: [text('Be brief.')] }, prompt, assistant(call('a')), results('a')],
    },
  ],
  'repeated-role': [
    {
      by: ['gemini'],
      path: 'messages[2].role',
      bad: [prompt, assistant(text('I look.')), assistant(call('a')), results('a')],
      good: [prompt, assistant(text('I look.'), call('a')), results('a'), answer, answer, prompt, prompt],
    },
  ],
  'misplaced-call': [
    {
      by: ALL,
      path: 'messages[0].content[1]',
      bad: [user(text('Look!'), call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'missing-result': [
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), call('b')), results('a')],
      good: [prompt, assistant(call('a'), call('b')), results('a'), results('b')],
    },
    {
      by: ALL,
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('a')), prompt, answer],
      good: [prompt, assistant(call('a')), results('a'), prompt, answer],
    },
  ],
  'orphan-result': [
    {
      by: ALL,
      path: 'messages[1].content[0].call_id',
      bad: [prompt, results('a'), answer],
      good: [prompt, assistant(call('a')), results('a'), answer],
    },
    {
      by: ALL,
      path: 'messages[0].content[1].call_id',
      bad: [user(text('Look!'), result('a')), answer],
      good: [prompt, answer],
    },
  ],
  'misplaced-result': [
    {
      by: but('openai-responses'),
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), user(text('Hurry!')), results('a')],
      good: [prompt, assistant(call('a')), results('a'), user(text('Hurry!'))],
    },
    {
      by: but('openai-responses'),
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), answer, results('a')],
      good: [prompt, assistant(call('a')), results('a'), answer],
    },
    {
      by: ['openai-chat'],
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a'), call('b')), user(result('a'), text('so far')), results('b')],
      good: [prompt, assistant(call('a'), call('b')), results('a'), user(result('b'), text('so far'))],
    },
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), result('a'))],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'duplicate-result': [
    {
      by: ALL,
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), results('a'), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'duplicate-call-id': [
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), call('a')), results('a', 'a')],
      good: [prompt, assistant(call('a'), call('b')), results('a', 'b')],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), results('a'), assistant(call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a'), assistant(call('b')), results('b')],
    },
  ],
  'invalid-call-id': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('look:0')), results('look:0')],
      good: [prompt, assistant(call('look_0-A')), results('look_0-A')],
    },
    {
      by: ['openai-responses'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call(long)), results(long)],
      good: [prompt, assistant(call(long.slice(1))), results(long.slice(1))],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('')), results('')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'invalid-name': [
    {
      by: ALL,
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: 'look up' })), results('a')],
      good: [prompt, assistant(call('a', { name: 'look_Up-2' })), results('a')],
    },
    {
      by: but('gemini'),
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: 'eyes.look' })), results('a')],
      good: [prompt, assistant(call('a', { name: 'eyes_look' })), results('a')],
    },
    {
      by: ['openai-chat'],
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: long })), results('a')],
      good: [prompt, assistant(call('a', { name: long.slice(1) })), results('a')],
    },
  ],
  'invalid-arguments': ['{"a": ', '[1]', '"a"', '', 'null'].map((args) => ({
    by: ['anthropic', 'gemini'],
    path: 'messages[1].content[0].arguments',
    bad: [prompt, assistant(call('a', { arguments: args })), results('a')],
    good: [prompt, assistant(call('a', { arguments: '{"a": [1, null]}' })), results('a')],
  })),
  'invalid-part': [
    { by: ALL, path: 'messages[0].content[0].text', bad: [user({ type: 'text' })], good: [prompt] },
    { by: ALL, path: 'messages[0].content[0].source.type', bad: [user({ type: 'image' }, text('?'))], good: [prompt] },
    {
      by: ALL,
      path: 'messages[1].content[0].arguments',
      bad: [prompt, assistant(call('a', { arguments: { a: 1 } })), results()],
      good: [prompt, assistant(call('a', { arguments: '{"a":1}' })), results('a')],
      others: true,
    },
  ],
  'unknown-part': [
    { by: ALL, path: 'messages[0].content[0].type', bad: [user({ type: 'sticker' }, text('?'))], good: [prompt] },
  ],
  'unsupported-media': [
    { by: but('gemini'), path: 'messages[0].content[0].source', bad: [user(video)], good: [prompt] },
    {
      by: ['anthropic'],
      path: 'messages[0].content[0].source',
      bad: [user(bitmap)],
      good: [user(media('image', { ...bitmap.source, media_type: 'image/png' }))],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[0].content[0].source',
      bad: [user(media('audio', { type: 'base64', data: 'AA==', media_type: 'audio/wav' }))],
      good: [prompt],
    },
    {
      by: ['openai-chat'],
      path: 'messages[0].content[0].source',
      bad: [user(media('pdf', { type: 'url', url: 'https://x.org/y.pdf' }))],
      good: [user(media('pdf', { type: 'base64', data: 'AA==', media_type: 'application/pdf' }))],
    },
    {
      by: but('gemini'),
      path: 'messages[1].content[0].source',
      bad: [prompt, assistant(media('image', { type: 'url', url: 'https://x.org/y.png' }))],
      good: [user(media('image', { type: 'url', url: 'https://x.org/y.png' }))],
    },
    {
      by: ALL,
      path: 'messages[1].content[0].source',
      bad: [prompt, { role: 'system', content: [media('image', { type: 'url', url: 'https://x.org/y.png' })] }],
      good: [prompt, { role: 'system', content: [text('Be brief.')] }],
    },
  ],
  'empty-content': [
    { by: ['anthropic', 'gemini'], path: 'messages[0].content[0].text', bad: [user(text(''))], good: [prompt] },
    { by: ['anthropic'], path: 'messages[0].content[0].text', bad: [user(text(' \n'))], good: [prompt] },
    {
      by: but('openai-responses'),
      path: 'messages[1].content',
      bad: [prompt, assistant(), prompt],
      good: [prompt, answer, prompt],
    },
    { by: but('openai-responses'), path: 'messages[0].content', bad: [{ role: 'user' }, prompt], good: [prompt] },
    { by: ['openai-chat', 'gemini'], path: 'messages[1].content', bad: [prompt, assistant()], good: [prompt] },
  ],
  'thinking-alone': [
    {
      by: ['openai-chat', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking()), prompt],
      good: [prompt, assistant(thinking(), text('There.')), prompt],
    },
    {
      by: ['openai-chat', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking({ signature: 's' })), prompt],
      good: [prompt, assistant(thinking({ signature: 's' }), text('There.')), prompt],
    },
    {
      by: ['openai-chat', 'openai-responses', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking({ id: 'rs_1' })), prompt],
      good: [prompt, assistant(thinking({ id: 'rs_1' }), text('There.')), prompt],
    },
    {
      by: ['anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(text('There.'), thinking({ signature: 's' }))],
      good: [prompt, assistant(text('There.'), thinking({ signature: 's' })), answer],
    },
    {
      by: but('openai-responses'),
      path: 'messages[1].content',
      bad: [prompt, assistant({ type: 'thinking', text: '' })],
      good: [prompt, answer],
    },
  ],
  'thinking-removed': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].signature',
      bad: [prompt, assistant(thinking(), call('a')), results('a')],
      good: [prompt, assistant(thinking({ signature: 's' }), call('a')), results('a')],
    },
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].signature',
      bad: [prompt, assistant(thinking(), call('a')), results('a'), assistant(call('b')), results('b')],
      // In a finished turn no provider requires it.
      good: [
        prompt,
        assistant(thinking(), call('a')),
        results('a'),
        answer,
        prompt,
        assistant(call('b')),
        results('b'),
      ],
    },
    {
      by: ['gemini'],
      path: 'messages[3].content[0].thought_signature',
      bad: [
        ...[prompt, assistant(call('a', { thought_signature: 'g' }), call('b')), results('a', 'b')],
        ...[assistant(call('c')), results('c')],
      ],
      good: [
        ...[prompt, assistant(call('a', { thought_signature: 'g' }), call('b')), results('a', 'b')],
        ...[assistant(call('c', { thought_signature: 'h' })), results('c')],
      ],
    },
  ],
  'trailing-whitespace': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].text',
      bad: [prompt, assistant(text('There.\n'))],
      good: [prompt, assistant(text('There.\n')), prompt],
    },
  ],
}
