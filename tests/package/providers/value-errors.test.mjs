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
    ['openai-chat', [{ role: 'function', content: 'x' }], 'value[0].name'],
    ['openai-chat', [{ role: 'assistant', function_call: {} }], 'value[0].function_call.name'],
    [
      'openai-chat',
      [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }],
      'value[0].tool_calls[0].custom.input',
    ],
    ['openai-chat', [{ role: 'user', content: [null] }], 'value[0].content[0]'],
    ['openai-chat', { messages: [], functions: [] }, 'value.functions'],
    ['openai-chat', [{ role: 'tool', tool_call_id: 5, content: '' }], 'value[0].tool_call_id'],
    ['openai-responses', { input: [{ role: 'robot', content: '' }] }, 'value.input[0].role'],
    ['anthropic', [{ role: 'robot', content: [] }], 'value[0].role'],
    ['anthropic', [{ role: 'user' }], 'value[0].content'],
    [
      'anthropic',
      [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'f', input: [] }] }],
      'value[0].content[0].input',
    ],
    ['anthropic', [{ role: 'assistant', content: [null] }], 'value[0].content[0]'],
    ['anthropic', { messages: [], system: 5 }, 'value.system'],
    ['gemini', [{ role: 'robot', parts: [] }], 'value[0].role'],
    ['gemini', [{ role: 'user', parts: [{}] }], 'value[0].parts[0]'],
    ['gemini', [{ role: 'user', parts: [null] }], 'value[0].parts[0]'],
    [
      'gemini',
      { contents: [], config: { tools: [{ functionDeclarations: [{}] }] } },
      'value.config.tools[0].functionDeclarations[0].name',
    ],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: 'AAAA' }] }], 'value[0].content[0].image'],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: new Uint8Array(3) }] }], 'value[0].content[0].image'],
    ['ai-sdk', [{ role: 'tool', content: [{}] }], 'value[0].content[0].type'],
    ['ai-sdk', { messages: [], tools: { f: { inputSchema: {}, execute() {} } } }, 'value.tools.f.execute'],
    ['ai-sdk', { messages: [], tools: { f: {} } }, 'value.tools.f.inputSchema'],
  ]
  for (const [provider, value, argument] of cases) {
    refusedNow(() => fromMessages(value, provider), 'InvalidArgumentError', { argument }, `${provider} ${argument}`)
  }
})
