// Values that `fromMessages` refuses: the error names the path of the field.
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'

const { fromMessages } = await load('peteos-session')

test('errors name the path of the field', () => {
  const call = { id: 'c', type: 'function', function: { arguments: '{}' } }
  const cases = [
    [
      'openai-chat',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', tool_calls: [call] },
        ],
      },
      'value.messages[1].tool_calls[0].function.name',
    ],
    ['openai-chat', [{ role: 'function', name: 'f', content: 'x' }], 'value[0].role'],
    ['openai-chat', [{ role: 'assistant', function_call: {} }], 'value[0].function_call'],
    [
      'openai-chat',
      [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }],
      'value[0].tool_calls[0].type',
    ],
    [
      'openai-chat',
      [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }],
      'value[0].content[0].file.file_data',
    ],
    [
      'openai-chat',
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] }],
      'value[0].content[0].image_url.url',
    ],
    [
      'openai-chat',
      [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'ogg' } }] }],
      'value[0].content[0].input_audio.format',
    ],
    ['openai-chat', { messages: [], functions: [] }, 'value.functions'],
    ['openai-chat', { messages: [], tools: [{ type: 'custom' }] }, 'value.tools[0].type'],
    ['openai-chat', [{ role: 'tool', tool_call_id: 5, content: '' }], 'value[0].tool_call_id'],
    ['openai-responses', { input: [{ type: 'web_search_call' }] }, 'value.input[0].type'],
    ['openai-responses', { input: [{ type: 'reasoning', summary: [] }] }, 'value.input[0].id'],
    ['openai-responses', { input: [{ role: 'robot', content: '' }] }, 'value.input[0].role'],
    ['openai-responses', { input: [], tools: [{ type: 'web_search' }] }, 'value.tools[0].type'],
    [
      'openai-responses',
      [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
      'value[0].content[0].image_url',
    ],
    ['anthropic', [{ role: 'robot', content: [] }], 'value[0].role'],
    ['anthropic', [{ role: 'user' }], 'value[0].content'],
    ['anthropic', [{ role: 'user', content: [{ type: 'server_tool_use' }] }], 'value[0].content[0].type'],
    [
      'anthropic',
      [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'f', input: [] }] }],
      'value[0].content[0].input',
    ],
    [
      'anthropic',
      [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: '' } }],
        },
      ],
      'value[0].content[0].source.media_type',
    ],
    ['anthropic', { messages: [], tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'value.tools[0].type'],
    ['anthropic', { messages: [], system: 5 }, 'value.system'],
    ['gemini', [{ role: 'robot', parts: [] }], 'value[0].role'],
    ['gemini', [{ role: 'user', parts: [{ executableCode: {} }] }], 'value[0].parts[0]'],
    [
      'gemini',
      [{ role: 'user', parts: [{ inlineData: { data: '', mimeType: 'text/plain' } }] }],
      'value[0].parts[0].inlineData.mimeType',
    ],
    ['gemini', { contents: [], tools: [{ googleSearch: {} }] }, 'value.tools[0].googleSearch'],
    [
      'gemini',
      { contents: [], config: { tools: [{ functionDeclarations: [{}] }] } },
      'value.config.tools[0].functionDeclarations[0].name',
    ],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: 'AAAA' }] }], 'value[0].content[0].image'],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: new Uint8Array(3) }] }], 'value[0].content[0].image'],
    [
      'ai-sdk',
      [{ role: 'user', content: [{ type: 'file', data: 'AAAA', mediaType: 'text/plain' }] }],
      'value[0].content[0].mediaType',
    ],
    ['ai-sdk', [{ role: 'tool', content: [{ type: 'tool-approval-response' }] }], 'value[0].content[0].type'],
    ['ai-sdk', { messages: [], tools: { f: { inputSchema: {}, execute() {} } } }, 'value.tools.f.execute'],
    ['ai-sdk', { messages: [], tools: { f: {} } }, 'value.tools.f.inputSchema'],
  ]
  for (const [provider, value, argument] of cases) {
    refusedNow(() => fromMessages(value, provider), 'InvalidArgumentError', { argument }, `${provider} ${argument}`)
  }
})
