// Conversations in the formats of model providers: there, and back again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonSchema, tool } from 'ai'
import { load } from './installed.mjs'
import { contextOf, conversation, conversationOf } from './support/conversations.mjs'
import { refusedNow } from './support/errors.mjs'
import { FORMS, normalForm } from './support/normal-form.mjs'
import { forSeeds } from './support/random.mjs'
import { NO_STRINGS, nested, nestedText, shown } from './support/values.mjs'

const peteos = await load('peteos-session')
const { ContentPart, Context, Message, SystemPromptMessage, ToolDefinitionsMessage, fromMessages, toMessages } = peteos

const PROVIDERS = Object.keys(FORMS)
const text = (said) => ({ type: 'text', text: said })
const say = (role, ...content) => ({ role, content })
const contextWith = (...messages) => contextOf(peteos, { system: null, tools: null, messages })
const imported = (value, provider) => conversationOf(fromMessages(value, provider))
const messagesOf = (value, provider) => imported(value, provider).messages

/** A conversation with all that every format takes. */
function example() {
  const context = Context.create({
    systemPromptMessage: SystemPromptMessage.create('Be brief.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([
      { name: 'add', description: 'Adds', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
    ]),
  })
  context.append(Message.create('user', [ContentPart.text('What is 2 + 3?')]))
  context.append(Message.create('assistant', [ContentPart.text('I add.'), ContentPart.toolUse('c1', 'add', { a: 2, b: 3 })]))
  context.append(Message.create('tool_result', [ContentPart.toolResult('c1', '5')]))
  context.append(Message.create('assistant', [ContentPart.text('It is 5.')]))
  return context
}

const parameters = { type: 'object', properties: { a: { type: 'number' } } }
const EXPECTED = {
  'openai-chat': {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is 2 + 3?' },
      {
        role: 'assistant',
        content: 'I add.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '5' },
      { role: 'assistant', content: 'It is 5.' },
    ],
    tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters } }],
  },
  'openai-responses': {
    instructions: 'Be brief.',
    input: [
      { type: 'message', role: 'user', content: 'What is 2 + 3?' },
      { type: 'message', role: 'assistant', content: 'I add.' },
      { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":2,"b":3}' },
      { type: 'function_call_output', call_id: 'c1', output: '5' },
      { type: 'message', role: 'assistant', content: 'It is 5.' },
    ],
    tools: [{ type: 'function', name: 'add', description: 'Adds', parameters, strict: false }],
  },
  anthropic: {
    system: 'Be brief.',
    messages: [
      { role: 'user', content: [text('What is 2 + 3?')] },
      { role: 'assistant', content: [text('I add.'), { type: 'tool_use', id: 'c1', name: 'add', input: { a: 2, b: 3 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '5' }] },
      { role: 'assistant', content: [text('It is 5.')] },
    ],
    tools: [{ name: 'add', description: 'Adds', input_schema: parameters }],
  },
  gemini: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'What is 2 + 3?' }] },
      { role: 'model', parts: [{ text: 'I add.' }, { functionCall: { id: 'c1', name: 'add', args: { a: 2, b: 3 } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'add', response: { output: '5' } } }] },
      { role: 'model', parts: [{ text: 'It is 5.' }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds', parametersJsonSchema: parameters }] }],
  },
  'ai-sdk': {
    system: 'Be brief.',
    messages: [
      { role: 'user', content: [text('What is 2 + 3?')] },
      {
        role: 'assistant',
        content: [text('I add.'), { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 2, b: 3 } }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'add', output: { type: 'text', value: '5' } }],
      },
      { role: 'assistant', content: [text('It is 5.')] },
    ],
    tools: { add: { description: 'Adds', inputSchema: parameters } },
  },
}

for (const provider of PROVIDERS) {
  test(`${provider}: what goes where`, () => {
    assert.deepEqual(toMessages(example(), provider), EXPECTED[provider])
    assert.deepEqual(Object.keys(toMessages(Context.create(), provider)).length, 1, 'what would be empty is absent')
  })

  test(`${provider}: there and back again, with what the format has a place for`, async () => {
    await forSeeds(400, (random) => {
      const given = conversation(random, provider)
      const context = contextOf(peteos, given)
      const before = context.rawDict
      const request = toMessages(context, provider)
      const back = fromMessages(request, provider)
      assert.deepEqual(conversationOf(back), normalForm(given, provider))
      assert.deepEqual(toMessages(back, provider), request)
      assert.deepEqual(toMessages(context, provider, { repair: false }), request)
      assert.equal(context.rawDict, before)
    })
  })

  test(`${provider}: a context that was made is like any other`, () => {
    const context = fromMessages(toMessages(example(), provider), provider)
    assert.equal(context.systemPromptMessage._static_text, 'Be brief.')
    assert.equal(context.toolDefinitionsMessage.content[0].name, 'add')
    assert.equal(new Set(context.messages.map(({ id }) => id)).size, 6)
    assert.ok(!example().messages.some(({ id }) => context.messages.some((message) => message.id === id)))
    assert.equal(context.messages[3].content[1].approval_status, 'approved')
    assert.equal(context.messages[4].role, 'tool_result')
    assert.equal(context.messages[4].content[0].execution_status, 'executed')
    assert.equal(context.rollingSequenceWindow(1).messageCount, 3)
    assert.deepEqual(Context.fromDict(context.rawDict).rawDict, context.rawDict)
  })

  test(`${provider}: the request is the caller's own`, () => {
    const context = example()
    const before = JSON.stringify(context.rawDict)
    const request = toMessages(context, provider)
    const list = request.messages ?? request.input ?? request.contents
    list.push('more')
    Object.assign(list[0], { changed: true })
    assert.equal(JSON.stringify(context.rawDict), before)
    assert.deepEqual(toMessages(context, provider), EXPECTED[provider])
  })

  test(`${provider}: a bare list of messages, and a request with other fields`, () => {
    const request = toMessages(example(), provider)
    const list = request.messages ?? request.input ?? request.contents
    const whole = imported(request, provider)
    assert.deepEqual(imported({ model: 'm', temperature: 0.5, stream: true, ...request }, provider), whole)
    const bare = imported(list, provider)
    assert.deepEqual(bare.messages, whole.messages)
    assert.deepEqual(imported([], provider), { system: null, tools: null, messages: [] })
  })

  test(`${provider}: a part that has no place is an error that names it, and no error with repair`, () => {
    const cases = [
      [{ type: 'hologram', data: 1 }, 'type'],
      [{ type: 'text', text: 5 }, 'text'],
      [{ type: 'tool_use', call_id: 'c', name: 5, arguments: '{}' }, 'name'],
      [{ type: 'tool_use', name: 'f', arguments: '{}' }, 'call_id'],
      [{ type: 'tool_result', call_id: 'c', content: [text('x')] }, 'content'],
      [{ type: 'image', source: { type: 'file' } }, 'source.type'],
      [{ type: 'image' }, 'source.type'],
      [{ type: 'image', source: { type: 'base64', data: 'AA', media_type: 'text/plain' } }, 'source.media_type'],
      [{ type: 'tool', name: 'f', parameters: 5 }, 'parameters'],
      [{ type: 'tool', name: 'f', description: 5 }, 'description'],
      [{ type: 'tool' }, 'name'],
    ]
    for (const [part, field] of cases) {
      const dict = { messages: [say('user', text('a')), say('user', text('b'), part)] }
      const context = Context.fromDict(dict)
      const expected = { argument: `messages[1].content[1].${field}` }
      refusedNow(() => toMessages(context, provider), 'InvalidArgumentError', expected, JSON.stringify(part))
      const mended = JSON.stringify(toMessages(context, provider, { repair: true }))
      assert.ok(mended.includes('"b"'), mended)
    }
  })

  test(`${provider}: what stands in no format at all`, () => {
    const errors = [5, null, undefined, 'text', {}, { messages: 5 }, { input: 5 }, { contents: 5 }, [5], [[]], [null], [{}]]
    for (const value of errors) {
      refusedNow(() => fromMessages(value, provider), 'InvalidArgumentError', { argument: /^value/ }, shown(value))
    }
  })
}

test('unknown providers, options and contexts', () => {
  for (const provider of ['openai', '', 'constructor', '__proto__', ...NO_STRINGS]) {
    refusedNow(() => toMessages(example(), provider), 'InvalidArgumentError', { argument: 'provider' }, shown(provider))
    refusedNow(() => fromMessages([], provider), 'InvalidArgumentError', { argument: 'provider' }, shown(provider))
  }
  refusedNow(() => toMessages(example(), 'mistral'), 'InvalidArgumentError', {
    message: /openai-chat, openai-responses, anthropic, gemini, ai-sdk/,
  })
  refusedNow(() => toMessages(example().rawDict, 'gemini'), 'InvalidArgumentError', { argument: 'context' })
  refusedNow(() => toMessages(example(), 'gemini', { repair: 'yes' }), 'InvalidArgumentError', { argument: 'options.repair' })
  refusedNow(() => toMessages(example(), 'gemini', { mend: true }), 'InvalidArgumentError', { argument: 'options.mend' })
  const freed = example()
  freed.free()
  refusedNow(() => toMessages(freed, 'gemini'), 'DisposedError')
})

test('arguments that are no object: passed on as text by OpenAI, an error that names them elsewhere', () => {
  for (const args of ['', 'x', '{"a":', '[1]', '5', 'null', nestedText(5000)]) {
    const context = contextWith(say('user', text('a')), say('assistant', text('b'), { ...ContentPart.toolUse('c', 'f', args) }))
    const chat = toMessages(context, 'openai-chat')
    assert.equal(chat.messages[1].tool_calls[0].function.arguments, args)
    assert.equal(toMessages(context, 'openai-responses').input[2].arguments, args)
    for (const provider of ['anthropic', 'gemini', 'ai-sdk']) {
      refusedNow(() => toMessages(context, provider), 'InvalidArgumentError', { argument: 'messages[1].content[1].arguments' })
      const mended = JSON.stringify(toMessages(context, provider, { repair: true }))
      assert.ok(mended.includes(`{"invalid_arguments":${JSON.stringify(args)}}`), mended.slice(0, 200))
    }
  }
})

test('media that a provider does not take: an error that names the part, a note with repair', () => {
  const source = { type: 'url', url: 'https://example.com/a' }
  const data = (media_type) => ({ type: 'base64', data: 'AAAA', media_type })
  const cases = [
    ['openai-chat', 'user', ContentPart.video(source), ''],
    ['openai-chat', 'user', ContentPart.audio(source), '.source.type'],
    ['openai-chat', 'user', ContentPart.audio(data('audio/ogg')), '.source.media_type'],
    ['openai-chat', 'user', ContentPart.pdf(source), '.source.type'],
    ['openai-chat', 'assistant', ContentPart.image(source), ''],
    ['openai-chat', 'system', ContentPart.image(source), ''],
    ['openai-responses', 'user', ContentPart.video(source), ''],
    ['openai-responses', 'user', ContentPart.audio(source), ''],
    ['openai-responses', 'assistant', ContentPart.image(source), ''],
    ['openai-responses', 'system', ContentPart.image(source), ''],
    ['anthropic', 'user', ContentPart.video(source), ''],
    ['anthropic', 'user', ContentPart.audio(data('audio/wav')), ''],
    ['anthropic', 'user', ContentPart.image(data('image/tiff')), '.source.media_type'],
    ['anthropic', 'assistant', ContentPart.pdf(source), ''],
    ['anthropic', 'system', ContentPart.image(source), ''],
    ['gemini', 'system', ContentPart.image(source), ''],
    ['ai-sdk', 'system', ContentPart.video(source), ''],
    ['ai-sdk', 'user', ContentPart.image({ type: 'url', url: 'picture.png' }), '.source.url'],
    ['ai-sdk', 'user', ContentPart.image({ ...data('image/png'), data: 'a:b' }), '.source.data'],
  ]
  for (const [provider, role, part, field] of cases) {
    const context = contextWith(say('user', text('a')), say(role, text('b'), part))
    const argument = `messages[1].content[1]${field}`
    refusedNow(() => toMessages(context, provider), 'InvalidArgumentError', { argument }, `${provider} ${role} ${part.type}`)
    const mended = JSON.stringify(toMessages(context, provider, { repair: true }))
    assert.ok(mended.includes(`[${part.type} left out: the provider takes none]`), mended)
  }
})

test('repair leaves out messages that come out empty', () => {
  const context = contextWith(say('user'), say('assistant', { type: 'thinking', text: 'hm' }), say('system'), say('user', text('a')))
  assert.deepEqual(toMessages(context, 'openai-chat', { repair: true }).messages, [{ role: 'user', content: 'a' }])
  assert.equal(toMessages(context, 'openai-responses', { repair: true }).input.length, 1)
  assert.equal(toMessages(context, 'anthropic', { repair: true }).messages.length, 1)
  assert.equal(toMessages(context, 'gemini', { repair: true }).contents.length, 2, 'thinking has a place')
  assert.equal(toMessages(context, 'ai-sdk', { repair: true }).messages.length, 2)
})

test('the name of a tool that only the call knows', () => {
  const orphan = contextWith(say('user', text('a')), say('tool_result', ContentPart.toolResult('c', '5')))
  for (const provider of ['gemini', 'ai-sdk']) {
    refusedNow(() => toMessages(orphan, provider), 'InvalidArgumentError', { argument: 'messages[1].content[0].call_id' })
    const named = contextWith(say('tool_result', { ...ContentPart.toolResult('c', '5'), name: 'add' }))
    const request = toMessages(named, provider)
    assert.match(JSON.stringify(request), /"(name|toolName)":"add"/)
    assert.deepEqual(toMessages(fromMessages(request, provider), provider), request)
  }
})

test('results that are not directly after their call stay where they are', () => {
  const context = contextWith(
    say('assistant', ContentPart.toolUse('c1', 'f', '{}'), ContentPart.toolUse('c2', 'g', '{}')),
    say('tool_result', ContentPart.toolResult('c1', '1'), text('aside')),
    say('tool', ContentPart.toolResult('c2', '2')),
    say('user', text('and?')),
  )
  const { messages } = toMessages(context, 'anthropic')
  assert.deepEqual(messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]), [
    ['assistant', 'tool_use', 'tool_use'],
    ['user', 'tool_result', 'tool_result', 'text'],
    ['user', 'text'],
  ])
  assert.deepEqual(toMessages(context, 'openai-chat').messages.map(({ role }) => role), ['assistant', 'tool', 'user', 'tool', 'user'])
  assert.deepEqual(
    toMessages(context, 'gemini').contents[1].parts.map((part) => part.functionResponse?.name ?? part.text),
    ['f', 'g', 'aside'],
  )
})

test('a result within the assistant’s message, and a call within the user’s', () => {
  const call = ContentPart.toolUse('c', 'f', '{}')
  const one = contextWith(say('assistant', call, ContentPart.toolResult('c', '5'), text('so it is 5')))
  assert.deepEqual(toMessages(one, 'anthropic').messages.map(({ role }) => role), ['assistant', 'user', 'assistant'])
  const other = contextWith(say('user', text('a'), call))
  assert.deepEqual(toMessages(other, 'openai-chat').messages.map(({ role }) => role), ['user', 'assistant'])
})

test('roles of files: developer is system, any other is user', () => {
  const context = Context.fromDict({ messages: ['user', 'developer', 'robot', '', undefined].map((role) => ({ role, content: [text('x')] })) })
  assert.deepEqual(
    toMessages(context, 'openai-chat').messages.map(({ role }) => role),
    ['user', 'system', 'user', 'user', 'user'],
  )
})

test('system messages in between go to the system prompt where a format has no place for them', () => {
  const context = contextOf(peteos, { system: [text('one')], tools: null, messages: [say('user', text('a')), say('system', text('two'))] })
  assert.deepEqual(toMessages(context, 'anthropic').system, [text('one'), text('two')])
  assert.deepEqual(toMessages(context, 'gemini').systemInstruction, { parts: [{ text: 'one' }, { text: 'two' }] })
  assert.equal(toMessages(context, 'anthropic').messages.length, 1)
})

test('a system message that comes first becomes the system prompt, which windows keep', () => {
  for (const [provider, role, key] of [['openai-chat', 'developer'], ['openai-responses', 'developer', 'input'], ['ai-sdk', 'system']]) {
    const messages = [{ role, content: 'Be brief.' }, { role: 'user', content: 'Hi' }, { role, content: 'And kind.' }]
    for (const value of [messages, { [key ?? 'messages']: messages }]) {
      const { system, messages: rest } = imported(value, provider)
      assert.deepEqual(system, [text('Be brief.')])
      assert.deepEqual(rest.map((message) => message.role), ['user', 'system'])
    }
  }
})

test('numbers that a double cannot hold stay in the arguments of OpenAI', () => {
  const args = '{"id":12345678901234567890,"x":1.0}'
  const context = contextWith(say('assistant', ContentPart.toolUse('c', 'f', args)))
  const back = fromMessages(toMessages(context, 'openai-chat'), 'openai-chat')
  assert.equal(back.messages[0].content[0].arguments, args)
})

test('keys such as __proto__ are keys like any other', () => {
  const args = '{"__proto__":{"a":1},"constructor":2,"$serde_json::private::Number":"5"}'
  const context = contextWith(say('user', text('a')), say('assistant', ContentPart.toolUse('c', '__proto__', args)))
  for (const provider of ['anthropic', 'gemini', 'ai-sdk']) {
    const back = fromMessages(toMessages(context, provider), provider)
    assert.equal(back.messages[1].content[0].arguments, args, provider)
    assert.equal(back.messages[1].content[0].name, '__proto__')
  }
  const tools = contextOf(peteos, { system: null, tools: [{ type: 'tool', name: '__proto__' }], messages: [] })
  assert.equal(imported(toMessages(tools, 'ai-sdk'), 'ai-sdk').tools[0].name, '__proto__')
})

test('openai-chat: what requests of others say', () => {
  const messages = messagesOf(
    [
      { role: 'user', name: 'ann', content: [{ type: 'text', text: 'a' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } }] },
      { role: 'assistant', content: null, refusal: null, annotations: [], audio: null, function_call: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'not JSON' } }] },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'y' }] },
      { role: 'assistant', refusal: 'I will not.' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ],
    'openai-chat',
  )
  assert.deepEqual(messages, [
    say('user', text('a'), { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' }, detail: 'auto' }),
    say('assistant', { type: 'tool_use', call_id: 'c', name: 'f', arguments: 'not JSON', approval_status: 'approved' }),
    say('tool_result', { type: 'tool_result', call_id: 'c', content: 'x\ny', execution_status: 'executed' }),
    say('assistant', text('I will not.')),
    say('assistant', text('No.')),
  ])
})

test('openai-responses: what requests of others say', () => {
  const request = {
    instructions: null,
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'input_image', detail: 'low', image_url: 'https://example.com/a' }, { type: 'input_file', file_url: 'https://example.com/b.pdf' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'one' }, { type: 'summary_text', text: 'two' }], encrypted_content: null, status: 'completed' },
      { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: 'b', annotations: [], logprobs: [] }, { type: 'output_text', text: 'c', annotations: [] }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }, { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
    ],
  }
  assert.deepEqual(messagesOf(request, 'openai-responses'), [
    say('user', text('a'), { type: 'image', source: { type: 'url', url: 'https://example.com/a' }, detail: 'low' }, { type: 'pdf', source: { type: 'url', url: 'https://example.com/b.pdf' } }),
    say(
      'assistant',
      { type: 'thinking', text: 'one\n\ntwo', id: 'rs_1', summary: ['one', 'two'] },
      { ...text('b'), item_id: 'msg_1' },
      { ...text('c'), item_id: 'msg_1' },
      { type: 'tool_use', call_id: 'c', name: 'f', arguments: '{}', approval_status: 'approved', item_id: 'fc_1' },
    ),
    say('tool_result', { type: 'tool_result', call_id: 'c', content: 'x', execution_status: 'executed' }, { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' } }),
  ])
  const back = toMessages(fromMessages(request, 'openai-responses'), 'openai-responses').input
  assert.deepEqual(back[1].summary, request.input[1].summary)
  assert.deepEqual(back[2], { ...request.input[2], content: [{ type: 'output_text', text: 'b', annotations: [] }, { type: 'output_text', text: 'c', annotations: [] }] })
  assert.deepEqual(messagesOf({ input: 'Hi' }, 'openai-responses'), [say('user', text('Hi'))])
})

test('openai-responses: an item has its id only where its reasoning is', () => {
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

test('anthropic: what requests of others say', () => {
  const request = {
    system: [{ type: 'text', text: 'one', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: true, content: [{ type: 'text', text: 'x' }, { type: 'text', text: 'y' }, { type: 'image', source: { type: 'url', url: 'https://example.com/a' } }] }, { type: 'text', text: 'b' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'u' }] },
      { role: 'assistant', content: 'c' },
    ],
  }
  const { system, messages } = imported(request, 'anthropic')
  assert.deepEqual(system, [{ ...text('one'), cache_control: { type: 'ephemeral' } }])
  assert.deepEqual(messages, [
    say('user', text('a')),
    say('assistant', { type: 'thinking', text: 'hm', signature: 's' }, { type: 'redacted_thinking', data: 'd' }, { type: 'tool_use', call_id: 't', name: 'f', arguments: '{}', approval_status: 'approved' }),
    say('tool_result', { type: 'tool_result', call_id: 't', content: 'x\ny', execution_status: 'executed', is_error: true }, { type: 'image', source: { type: 'url', url: 'https://example.com/a' } }, text('b')),
    say('tool_result', { type: 'tool_result', call_id: 'u', content: '', execution_status: 'executed' }),
    say('assistant', text('c')),
  ])
})

test('gemini: what requests of others say', () => {
  const contents = [
    { parts: [{ text: 'a' }, { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }] },
    { role: 'model', parts: [{ text: 'hm', thought: true }, { functionCall: { name: 'f' }, thoughtSignature: 's' }, { functionCall: { name: 'f', args: { n: 1 } } }] },
    { role: 'function', parts: [{ functionResponse: { name: 'f', response: { temperature: 5 } } }, { functionResponse: { name: 'f', response: { error: 'no' } } }] },
  ]
  const config = { systemInstruction: 'Be brief.', tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { type: { type: 'STRING', enum: ['A'] } } } }] }] }
  const { system, tools, messages } = imported({ model: 'm', contents, config }, 'gemini')
  assert.deepEqual(system, [text('Be brief.')])
  assert.deepEqual(tools, [{ type: 'tool', name: 'f', parameters: { type: 'object', properties: { type: { type: 'string', enum: ['A'] } } } }])
  const [first, second] = messages[1].content.slice(1).map(({ call_id }) => call_id)
  assert.match(first, /^call_/)
  assert.notEqual(first, second)
  assert.deepEqual(messages, [
    say('user', text('a'), { type: 'video', source: { type: 'base64', data: 'AAAA', media_type: 'video/mp4' } }),
    say(
      'assistant',
      { type: 'thinking', text: 'hm' },
      { type: 'tool_use', call_id: first, name: 'f', arguments: '{}', approval_status: 'approved', thought_signature: 's' },
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

test('ai-sdk: what requests of others say', () => {
  const result = (output, id = 'c') => ({ type: 'tool-result', toolCallId: id, toolName: 'f', output })
  const value = [
    { role: 'user', content: 'a' },
    { role: 'user', content: [{ type: 'image', image: 'iVBORw0KGgoAAAA' }, { type: 'image', image: new URL('https://example.com/a.png') }, { type: 'file', data: 'data:application/pdf;base64,AAAA', mediaType: 'application/pdf' }] },
    { role: 'assistant', content: [{ type: 'reasoning', text: 'hm', providerOptions: { acme: { s: 1 } } }, { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: { a: 1 } }] },
    { role: 'tool', content: [result({ type: 'json', value: { b: [1] } })] },
    { role: 'tool', content: [result({ type: 'error-json', value: null }), result({ type: 'execution-denied', reason: 'no' })] },
    { role: 'tool', content: [result({ type: 'content', value: [{ type: 'text', text: 'x' }, { type: 'image-data', data: 'AAAA', mediaType: 'image/png' }] }, 'other')] },
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
    say('assistant', { type: 'thinking', text: 'hm', provider_options: { acme: { s: 1 } } }, { type: 'tool_use', call_id: 'c', name: 'f', arguments: '{"a":1}', approval_status: 'approved' }),
    say('tool_result', { ...done, content: '{"b":[1]}' }),
    say('tool_result', { ...done, content: 'null', is_error: true }, { ...done, content: 'no', is_error: true, execution_status: 'denied' }),
    say('tool_result', { ...done, call_id: 'other', content: 'x', name: 'f' }, { type: 'image', source: { type: 'base64', data: 'AAAA', media_type: 'image/png' } }),
  ])
  assert.deepEqual(messagesOf({ prompt: 'Hi' }, 'ai-sdk'), [say('user', text('Hi'))])
  const tools = { add: tool({ description: 'Adds', inputSchema: jsonSchema(parameters) }) }
  assert.deepEqual(imported({ messages: [], tools }, 'ai-sdk').tools, [{ type: 'tool', name: 'add', description: 'Adds', parameters }])
  for (const system of ['one', { role: 'system', content: 'one' }, [{ role: 'system', content: 'one' }]]) {
    assert.deepEqual(imported({ system, messages: [] }, 'ai-sdk').system, [text('one')])
  }
})

test('errors of a value name the way to the field', () => {
  const call = { id: 'c', type: 'function', function: { arguments: '{}' } }
  const cases = [
    ['openai-chat', { messages: [{ role: 'user', content: 'a' }, { role: 'assistant', tool_calls: [call] }] }, 'value.messages[1].tool_calls[0].function.name'],
    ['openai-chat', [{ role: 'function', name: 'f', content: 'x' }], 'value[0].role'],
    ['openai-chat', [{ role: 'assistant', function_call: {} }], 'value[0].function_call'],
    ['openai-chat', [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }], 'value[0].tool_calls[0].type'],
    ['openai-chat', [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }], 'value[0].content[0].file.file_data'],
    ['openai-chat', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] }], 'value[0].content[0].image_url.url'],
    ['openai-chat', [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'ogg' } }] }], 'value[0].content[0].input_audio.format'],
    ['openai-chat', { messages: [], functions: [] }, 'value.functions'],
    ['openai-chat', { messages: [], tools: [{ type: 'custom' }] }, 'value.tools[0].type'],
    ['openai-chat', [{ role: 'tool', tool_call_id: 5, content: '' }], 'value[0].tool_call_id'],
    ['openai-responses', { input: [{ type: 'web_search_call' }] }, 'value.input[0].type'],
    ['openai-responses', { input: [{ type: 'reasoning', summary: [] }] }, 'value.input[0].id'],
    ['openai-responses', { input: [{ role: 'robot', content: '' }] }, 'value.input[0].role'],
    ['openai-responses', { input: [], tools: [{ type: 'web_search' }] }, 'value.tools[0].type'],
    ['openai-responses', [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }], 'value[0].content[0].image_url'],
    ['anthropic', [{ role: 'robot', content: [] }], 'value[0].role'],
    ['anthropic', [{ role: 'user' }], 'value[0].content'],
    ['anthropic', [{ role: 'user', content: [{ type: 'server_tool_use' }] }], 'value[0].content[0].type'],
    ['anthropic', [{ role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'f', input: [] }] }], 'value[0].content[0].input'],
    ['anthropic', [{ role: 'user', content: [{ type: 'document', source: { type: 'base64', media_type: 'text/plain', data: '' } }] }], 'value[0].content[0].source.media_type'],
    ['anthropic', { messages: [], tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'value.tools[0].type'],
    ['anthropic', { messages: [], system: 5 }, 'value.system'],
    ['gemini', [{ role: 'robot', parts: [] }], 'value[0].role'],
    ['gemini', [{ role: 'user', parts: [{ executableCode: {} }] }], 'value[0].parts[0]'],
    ['gemini', [{ role: 'user', parts: [{ inlineData: { data: '', mimeType: 'text/plain' } }] }], 'value[0].parts[0].inlineData.mimeType'],
    ['gemini', { contents: [], tools: [{ googleSearch: {} }] }, 'value.tools[0].googleSearch'],
    ['gemini', { contents: [], config: { tools: [{ functionDeclarations: [{}] }] } }, 'value.config.tools[0].functionDeclarations[0].name'],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: 'AAAA' }] }], 'value[0].content[0].image'],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'image', image: new Uint8Array(3) }] }], 'value[0].content[0].image'],
    ['ai-sdk', [{ role: 'user', content: [{ type: 'file', data: 'AAAA', mediaType: 'text/plain' }] }], 'value[0].content[0].mediaType'],
    ['ai-sdk', [{ role: 'tool', content: [{ type: 'tool-approval-response' }] }], 'value[0].content[0].type'],
    ['ai-sdk', { messages: [], tools: { f: { inputSchema: {}, execute() {} } } }, 'value.tools.f.execute'],
    ['ai-sdk', { messages: [], tools: { f: {} } }, 'value.tools.f.inputSchema'],
  ]
  for (const [provider, value, argument] of cases) {
    refusedNow(() => fromMessages(value, provider), 'InvalidArgumentError', { argument }, `${provider} ${argument}`)
  }
})

/** Any JSON, often such as a format has. */
function junk(random, depth = 0) {
  const KEYS = [
    ...['type', 'role', 'content', 'text', 'messages', 'input', 'contents', 'parts', 'id', 'call_id', 'name', 'arguments'],
    ...['tools', 'system', 'source', 'data', 'url', 'media_type', 'mimeType', 'functionCall', 'functionResponse', 'response'],
    ...['tool_calls', 'function', 'tool_call_id', 'tool_use_id', 'toolCallId', 'toolName', 'output', 'value', 'summary', '__proto__'],
  ]
  const VALUES = [
    ...['user', 'assistant', 'system', 'model', 'tool', 'text', 'tool_use', 'tool_result', 'image', 'image_url', 'message', 'base64', 'url'],
    ...['function_call', 'function_call_output', 'reasoning', 'thinking', 'tool-call', 'tool-result', 'function', 'tool', '', '{}', 'x'],
    ...[0, -1, 1e300, true, false, null],
  ]
  const kind = depth > 6 ? 0 : random.integer(0, 4)
  if (kind <= 1) return random.pick(VALUES)
  if (kind === 2) return Array.from({ length: random.integer(0, 3) }, () => junk(random, depth + 1))
  return Object.fromEntries(Array.from({ length: random.integer(0, 5) }, () => [random.pick(KEYS), junk(random, depth + 1)]))
}

/** Changes a value somewhere. */
function damaged(random, value) {
  if (random.chance(0.1) || typeof value !== 'object' || value === null || Object.keys(value).length === 0) return junk(random, 4)
  const copy = structuredClone(value)
  const key = random.pick(Object.keys(copy))
  if (random.chance(0.05)) delete copy[key]
  else copy[key] = damaged(random, copy[key])
  return copy
}

function onlyTypedErrors(work, about) {
  try {
    return work()
  } catch (error) {
    assert.equal(error.constructor, peteos.InvalidArgumentError, `${about}: ${error.stack}`)
    return undefined
  }
}

test('any value: a context, or an error that names a field', async () => {
  const seen = { made: 0, refused: 0 }
  await forSeeds(1500, (random) => {
    const provider = random.pick(PROVIDERS)
    const whole = toMessages(contextOf(peteos, conversation(random, provider)), provider)
    const value = random.chance(0.3) ? junk(random) : damaged(random, whole)
    const context = onlyTypedErrors(() => fromMessages(value, provider), provider)
    seen[context === undefined ? 'refused' : 'made']++
    if (context !== undefined) for (const other of PROVIDERS) onlyTypedErrors(() => toMessages(context, other), other)
  })
  assert.ok(process.env.PETEOS_SEED || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('any context: a request, or an error that names a part; with repair a request', async () => {
  const seen = { made: 0, refused: 0 }
  await forSeeds(600, (random) => {
    const { messages } = contextOf(peteos, conversation(random, random.pick(PROVIDERS)))
    const broken = messages.map(({ role, content }) => ({
      role: random.chance(0.05) ? random.pick(['robot', 'developer', '']) : role,
      content: content.map((part) => (random.chance(0.2) ? { ...damaged(random, part), type: random.pick([part.type, 'text', 'tool_use', 'x']) } : part)),
    }))
    const context = Context.fromDict({ messages: broken })
    const before = context.rawDict
    for (const provider of PROVIDERS) {
      const request = onlyTypedErrors(() => toMessages(context, provider), provider)
      const mended = toMessages(context, provider, { repair: true })
      seen[request === undefined ? 'refused' : 'made']++
      fromMessages(mended, provider)
      if (request !== undefined) fromMessages(request, provider)
    }
    assert.equal(context.rawDict, before)
  })
  assert.ok(process.env.PETEOS_SEED || Math.min(seen.made, seen.refused) > 50, JSON.stringify(seen))
})

test('values that are nested deeply', () => {
  for (const depth of [400, 900, 980, 990, 995, 1000, 5000]) {
    const deep = { a: nested(depth) }
    const values = {
      'openai-chat': { messages: [], tools: [{ type: 'function', function: { name: 'f', parameters: deep } }] },
      'openai-responses': { input: [], tools: [{ type: 'function', name: 'f', parameters: deep, strict: false }] },
      anthropic: { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: deep }] }], tools: [{ name: 'f', input_schema: deep }] },
      gemini: { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: deep } }] }], tools: [{ functionDeclarations: [{ name: 'f', parameters: deep }] }] },
      'ai-sdk': { messages: [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f', input: deep }] }], tools: { f: { inputSchema: deep } } },
    }
    for (const [provider, value] of Object.entries(values)) {
      const context = onlyTypedErrors(() => fromMessages(value, provider), `${provider} ${depth}`)
      // Where the limit is, depends on how far up the format has the value.
      if (depth <= 980) assert.ok(context !== undefined, `${provider} ${depth}`)
      if (depth >= 1000) assert.equal(context, undefined, `${provider} ${depth}`)
      if (context === undefined) continue
      assert.deepEqual(Context.fromDict(context.rawDict).messageCount, context.messageCount)
      for (const other of PROVIDERS) toMessages(context, other)
    }
  }
})
