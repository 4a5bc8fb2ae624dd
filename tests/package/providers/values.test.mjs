// Values that `fromMessages` accepts beyond the results of `toMessages`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonSchema, tool } from 'ai'
import { conversationOf } from '../support/conversations.mjs'
import { load } from '../support/installed.mjs'
import { shown } from '../support/values.mjs'

const { fromMessages, toMessages } = await load('peteos-session')

const text = (said) => ({ type: 'text', text: said })
const say = (role, ...content) => ({ role, content })
const imported = (value, provider) => conversationOf(fromMessages(value, provider))
const messagesOf = (value, provider) => imported(value, provider).messages
const parameters = { type: 'object', properties: { a: { type: 'number' } } }

test('openai-chat: requests from elsewhere are read', () => {
  const messages = messagesOf(
    [
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        audio: null,
        function_call: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'not JSON' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c',
        content: [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'y' },
        ],
      },
      { role: 'assistant', refusal: 'I will not.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ],
    'openai-chat',
  )
  assert.deepEqual(messages, [
    say('user', text('a'), {
      type: 'image',
      source: { type: 'base64', data: 'AAAA', media_type: 'image/png' },
      detail: 'auto',
    }),
    say('assistant', { type: 'tool_use', call_id: 'c', name: 'f', arguments: 'not JSON', approval_status: 'approved' }),
    say('tool_result', { type: 'tool_result', call_id: 'c', content: 'x\ny', execution_status: 'executed' }),
    say('assistant', text('I will not.')),
    say('assistant', text('No.')),
  ])
})

test('openai-responses: requests from elsewhere are read', () => {
  const request = {
    instructions: null,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', detail: 'low', image_url: 'https://example.com/a' },
          { type: 'input_file', file_url: 'https://example.com/b.pdf' },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
        encrypted_content: null,
        status: 'completed',
      },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
          { type: 'output_text', text: 'c', annotations: [] },
        ],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [
          { type: 'input_text', text: 'x' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        ],
      },
    ],
  }
  assert.deepEqual(messagesOf(request, 'openai-responses'), [
    say(
      'user',
      text('a'),
      { type: 'image', source: { type: 'url', url: 'https://example.com/a' }, detail: 'low' },
      { type: 'pdf', source: { type: 'url', url: 'https://example.com/b.pdf' } },
    ),
    say(
      'assistant',
      { type: 'thinking', text: 'one\n\ntwo', id: 'rs_1', summary: ['one', 'two'] },
      { ...text('b'), item_id: 'msg_1' },
      { ...text('c'), item_id: 'msg_1' },
      { type: 'tool_use', call_id: 'c', name: 'f', arguments: '{}', approval_status: 'approved', item_id: 'fc_1' },
    ),
    say('tool_result', {
      type: 'tool_result',
      call_id: 'c',
      content: [text('x'), { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' } }],
      execution_status: 'executed',
    }),
  ])
  const back = toMessages(fromMessages(request, 'openai-responses'), 'openai-responses').input
  assert.deepEqual(back[1].summary, request.input[1].summary)
  assert.deepEqual(back[2], {
    ...request.input[2],
    content: [
      { type: 'output_text', text: 'b', annotations: [] },
      { type: 'output_text', text: 'c', annotations: [] },
    ],
  })
  assert.deepEqual(messagesOf({ input: 'Hi' }, 'openai-responses'), [say('user', text('Hi'))])
})

test('openai-responses: an item keeps its id only with its reasoning', () => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
  ]
  const context = fromMessages(input, 'openai-responses')
  const call = (of) => toMessages(of, 'openai-responses').input.at(-1)
  assert.deepEqual(call(context), input[2])
  const { id, ...withoutId } = input[2]
  assert.equal(id, 'fc_1')
  assert.deepEqual(call(context.stripThinking()), withoutId)
})

test('anthropic: requests from elsewhere are read', () => {
  const request = {
    system: [{ type: 'text', text: 'one', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'tool_use', id: 't', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            is_error: true,
            content: [
              { type: 'text', text: 'x' },
              { type: 'text', text: 'y' },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a' } },
            ],
          },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'u' }] },
      { role: 'assistant', content: 'c' },
    ],
  }
  const { system, messages } = imported(request, 'anthropic')
  assert.deepEqual(system, [{ ...text('one'), cache_control: { type: 'ephemeral' } }])
  assert.deepEqual(messages, [
    say('user', text('a')),
    say(
      'assistant',
      { type: 'thinking', text: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'tool_use', call_id: 't', name: 'f', arguments: '{}', approval_status: 'approved' },
    ),
    say(
      'tool_result',
      {
        type: 'tool_result',
        call_id: 't',
        content: [text('x'), text('y'), { type: 'image', source: { type: 'url', url: 'https://example.com/a' } }],
        execution_status: 'executed',
        is_error: true,
      },
      text('b'),
    ),
    say('tool_result', { type: 'tool_result', call_id: 'u', content: '', execution_status: 'executed' }),
    say('assistant', text('c')),
  ])
})

test('gemini: requests from elsewhere are read', () => {
  const contents = [
    { parts: [{ text: 'a' }, { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }] },
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { functionCall: { name: 'f' }, thoughtSignature: 's' },
        { functionCall: { name: 'f', args: { n: 1 } } },
      ],
    },
    {
      role: 'function',
      parts: [
        { functionResponse: { name: 'f', response: { temperature: 5 } } },
        { functionResponse: { name: 'f', response: { error: 'no' } } },
      ],
    },
  ]
  const config = {
    systemInstruction: 'Be brief.',
    tools: [
      {
        functionDeclarations: [
          { name: 'f', parameters: { type: 'OBJECT', properties: { type: { type: 'STRING', enum: ['A'] } } } },
        ],
      },
    ],
  }
  const { system, tools, messages } = imported({ model: 'm', contents, config }, 'gemini')
  assert.deepEqual(system, [text('Be brief.')])
  assert.deepEqual(tools, [
    { type: 'tool', name: 'f', parameters: { type: 'object', properties: { type: { type: 'string', enum: ['A'] } } } },
  ])
  const [first, second] = messages[1].content.slice(1).map(({ call_id }) => call_id)
  assert.deepEqual([first, second], ['unnamed_1_1', 'unnamed_1_2'], 'the ids tell the positions')
  assert.deepEqual(messages, [
    say('user', text('a'), { type: 'video', source: { type: 'base64', data: 'AAAA', media_type: 'video/mp4' } }),
    say(
      'assistant',
      { type: 'thinking', text: 'hm' },
      {
        type: 'tool_use',
        call_id: first,
        name: 'f',
        arguments: '{}',
        approval_status: 'approved',
        thought_signature: 's',
      },
      { type: 'tool_use', call_id: second, name: 'f', arguments: '{"n":1}', approval_status: 'approved' },
    ),
    say(
      'tool_result',
      { type: 'tool_result', call_id: first, content: '{"temperature":5}', execution_status: 'executed' },
      { type: 'tool_result', call_id: second, content: 'no', execution_status: 'executed', is_error: true },
    ),
  ])
  for (const value of ['Hi', ['Hi'], [{ text: 'Hi' }], { text: 'Hi' }, { role: 'user', parts: [{ text: 'Hi' }] }]) {
    assert.deepEqual(messagesOf({ contents: value }, 'gemini'), [say('user', text('Hi'))], shown(value))
  }
})

test('ai-sdk: requests from elsewhere are read', () => {
  const result = (output, id = 'c') => ({ type: 'tool-result', toolCallId: id, toolName: 'f', output })
  const value = [
    { role: 'user', content: 'a' },
    {
      role: 'user',
      content: [
        { type: 'image', image: 'iVBORw0KGgoAAAA' },
        { type: 'image', image: new URL('https://example.com/a.png') },
        { type: 'file', data: 'data:application/pdf;base64,AAAA', mediaType: 'application/pdf' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { acme: { s: 1 } } },
        { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { a: 1 } },
      ],
    },
    { role: 'tool', content: [result({ type: 'json', value: { b: [1] } })] },
    {
      role: 'tool',
      content: [result({ type: 'error-json', value: null }), result({ type: 'execution-denied', reason: 'no' })],
    },
    {
      role: 'tool',
      content: [
        result(
          {
            type: 'content',
            value: [
              { type: 'text', text: 'x' },
              { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
            ],
          },
          'other',
        ),
      ],
    },
  ]
  const done = { type: 'tool_result', call_id: 'c', execution_status: 'executed' }
  assert.deepEqual(messagesOf(value, 'ai-sdk'), [
    say('user', text('a')),
    say(
      'user',
      { type: 'image', source: { type: 'base64', data: 'iVBORw0KGgoAAAA', media_type: 'image/png' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'pdf', source: { type: 'base64', data: 'AAAA', media_type: 'application/pdf' } },
    ),
    say(
      'assistant',
      { type: 'thinking', text: 'hm', provider_options: { acme: { s: 1 } } },
      { type: 'tool_use', call_id: 'c', name: 'f', arguments: '{"a":1}', approval_status: 'approved' },
    ),
    say('tool_result', { ...done, content: '{"b":[1]}' }),
    say(
      'tool_result',
      { ...done, content: 'null', is_error: true },
      { ...done, content: 'no', is_error: true, execution_status: 'denied' },
    ),
    say('tool_result', {
      ...done,
      call_id: 'other',
      content: [text('x'), { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' } }],
      name: 'f',
    }),
  ])
  assert.deepEqual(messagesOf({ prompt: 'Hi' }, 'ai-sdk'), [say('user', text('Hi'))])
  const tools = { add: tool({ description: 'Adds', inputSchema: jsonSchema(parameters) }) }
  assert.deepEqual(imported({ messages: [], tools }, 'ai-sdk').tools, [
    { type: 'tool', name: 'add', description: 'Adds', parameters },
  ])
  for (const system of ['one', { role: 'system', content: 'one' }, [{ role: 'system', content: 'one' }]]) {
    assert.deepEqual(imported({ system, messages: [] }, 'ai-sdk').system, [text('one')])
  }
})
