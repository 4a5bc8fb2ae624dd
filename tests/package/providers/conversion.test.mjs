// Conversions of conversations to the formats of model providers, and back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contextOf, conversationOf, conversations } from '../support/conversations.mjs'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { FORMS, normalForm } from '../support/normal-form.mjs'
import { forAll } from '../support/property.mjs'
import { NO_STRINGS, nestedText, shown } from '../support/values.mjs'

const peteos = await load('peteos-session')
const { ContentPart, Context, Message, SystemPromptMessage, ToolDefinitionsMessage, fromMessages, toMessages } = peteos

const PROVIDERS = Object.keys(FORMS)
const text = (said) => ({ type: 'text', text: said })
const say = (role, ...content) => ({ role, content })
const contextWith = (...messages) => contextOf(peteos, { system: null, tools: null, messages })
const imported = (value, provider) => conversationOf(fromMessages(value, provider))

/** A conversation with everything that every format supports. */
function example() {
  const context = Context.create({
    systemPromptMessage: SystemPromptMessage.create('Be brief.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([
      { name: 'add', description: 'Adds', parameters: { type: 'object', properties: { a: { type: 'number' } } } },
    ]),
  })
  context.append(Message.create('user', [ContentPart.text('What is 2 + 3?')]))
  context.append(
    Message.create('assistant', [ContentPart.text('I add.'), ContentPart.toolUse('c1', 'add', { a: 2, b: 3 })]),
  )
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
      {
        role: 'assistant',
        content: [text('I add.'), { type: 'tool_use', id: 'c1', name: 'add', input: { a: 2, b: 3 } }],
      },
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
  test(`${provider}: every part goes to its field`, () => {
    assert.deepEqual(toMessages(example(), provider), EXPECTED[provider])
    assert.deepEqual(Object.keys(toMessages(Context.create(), provider)).length, 1, 'empty fields are left out')
  })

  test(`${provider}: a round trip keeps what the format supports`, async () => {
    await forAll(400, conversations(provider), (given) => {
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

  test(`${provider}: a converted context is like any other`, () => {
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

  test(`${provider}: the request belongs to the caller`, () => {
    const context = example()
    const before = JSON.stringify(context.rawDict)
    const request = toMessages(context, provider)
    const list = request.messages ?? request.input ?? request.contents
    list.push('more')
    Object.assign(list[0], { changed: true })
    assert.equal(JSON.stringify(context.rawDict), before)
    assert.deepEqual(toMessages(context, provider), EXPECTED[provider])
  })

  test(`${provider}: fromMessages accepts a bare list of messages, and a request with other fields`, () => {
    const request = toMessages(example(), provider)
    const list = request.messages ?? request.input ?? request.contents
    const whole = imported(request, provider)
    assert.deepEqual(imported({ model: 'm', temperature: 0.5, stream: true, ...request }, provider), whole)
    const bare = imported(list, provider)
    assert.deepEqual(bare.messages, whole.messages)
    assert.deepEqual(imported([], provider), { system: null, tools: null, messages: [] })
  })

  test(`${provider}: an unsupported part is an error that names it, and no error with repair`, () => {
    const cases = [
      [{ type: 'hologram', data: 1 }, 'type'],
      [{ type: 'text', text: 5 }, 'text'],
      [{ type: 'tool_use', call_id: 'c', name: 5, arguments: '{}' }, 'name'],
      [{ type: 'tool_use', name: 'f', arguments: '{}' }, 'call_id'],
      [{ type: 'tool_result', call_id: 'c', content: 5 }, 'content'],
      [{ type: 'tool_result', call_id: 'c', content: [{ type: 'thinking', text: 'x' }] }, 'content'],
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
      const repaired = JSON.stringify(toMessages(context, provider, { repair: true }))
      assert.ok(repaired.includes('"b"'), repaired)
    }
  })

  test(`${provider}: fields that no format has are not sent`, () => {
    const errors = [
      5,
      null,
      undefined,
      'text',
      {},
      { messages: 5 },
      { input: 5 },
      { contents: 5 },
      [5],
      [[]],
      [null],
      [{}],
    ]
    for (const value of errors) {
      refusedNow(() => fromMessages(value, provider), 'InvalidArgumentError', { argument: /^value/ }, shown(value))
    }
  })
}

test('unknown providers, options and contexts are refused', () => {
  for (const provider of ['openai', '', 'constructor', '__proto__', ...NO_STRINGS]) {
    refusedNow(() => toMessages(example(), provider), 'InvalidArgumentError', { argument: 'provider' }, shown(provider))
    refusedNow(() => fromMessages([], provider), 'InvalidArgumentError', { argument: 'provider' }, shown(provider))
  }
  refusedNow(() => toMessages(example(), 'mistral'), 'InvalidArgumentError', {
    message: /openai-chat, openai-responses, anthropic, gemini, ai-sdk/,
  })
  refusedNow(() => toMessages(example().rawDict, 'gemini'), 'InvalidArgumentError', { argument: 'context' })
  refusedNow(() => toMessages(example(), 'gemini', { repair: 'yes' }), 'InvalidArgumentError', {
    argument: 'options.repair',
  })
  refusedNow(() => toMessages(example(), 'gemini', { repairs: true }), 'InvalidArgumentError', {
    argument: 'options.repairs',
  })
  const freed = example()
  freed.free()
  refusedNow(() => toMessages(freed, 'gemini'), 'DisposedError')
})

test('arguments that are not an object are sent as text to OpenAI, and refused by name elsewhere', () => {
  for (const args of ['', 'x', '{"a":', '[1]', '5', 'null', nestedText(5000)]) {
    const context = contextWith(
      say('user', text('a')),
      say('assistant', text('b'), { ...ContentPart.toolUse('c', 'f', args) }),
    )
    const chat = toMessages(context, 'openai-chat')
    assert.equal(chat.messages[1].tool_calls[0].function.arguments, args)
    assert.equal(toMessages(context, 'openai-responses').input[2].arguments, args)
    for (const provider of ['anthropic', 'gemini', 'ai-sdk']) {
      refusedNow(() => toMessages(context, provider), 'InvalidArgumentError', {
        argument: 'messages[1].content[1].arguments',
      })
      const repaired = JSON.stringify(toMessages(context, provider, { repair: true }))
      assert.ok(repaired.includes(`{"invalid_arguments":${JSON.stringify(args)}}`), repaired.slice(0, 200))
    }
  }
})

test('unsupported media are an error that names the part, and a note with repair', () => {
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
    refusedNow(
      () => toMessages(context, provider),
      'InvalidArgumentError',
      { argument },
      `${provider} ${role} ${part.type}`,
    )
    const repaired = JSON.stringify(toMessages(context, provider, { repair: true }))
    assert.ok(repaired.includes(`[${part.type} left out: the provider takes none]`), repaired)
  }
})

test('repair leaves out messages that become empty', () => {
  const context = contextWith(
    say('user'),
    say('assistant', { type: 'thinking', text: 'hm' }),
    say('system'),
    say('user', text('a')),
  )
  assert.deepEqual(toMessages(context, 'openai-chat', { repair: true }).messages, [{ role: 'user', content: 'a' }])
  assert.equal(toMessages(context, 'openai-responses', { repair: true }).input.length, 1)
  assert.equal(toMessages(context, 'anthropic', { repair: true }).messages.length, 1)
  assert.equal(toMessages(context, 'gemini', { repair: true }).contents.length, 2, 'thinking is sent')
  assert.equal(toMessages(context, 'ai-sdk', { repair: true }).messages.length, 2)
})

test('the name of a tool comes from the call if the result lacks it', () => {
  const orphan = contextWith(say('user', text('a')), say('tool_result', ContentPart.toolResult('c', '5')))
  for (const provider of ['gemini', 'ai-sdk']) {
    refusedNow(() => toMessages(orphan, provider), 'InvalidArgumentError', {
      argument: 'messages[1].content[0].call_id',
    })
    const named = contextWith(say('tool_result', { ...ContentPart.toolResult('c', '5'), name: 'add' }))
    const request = toMessages(named, provider)
    assert.match(JSON.stringify(request), /"(name|toolName)":"add"/)
    assert.deepEqual(toMessages(fromMessages(request, provider), provider), request)
  }
})

test('results that are not directly after their call keep their position', () => {
  const context = contextWith(
    say('assistant', ContentPart.toolUse('c1', 'f', '{}'), ContentPart.toolUse('c2', 'g', '{}')),
    say('tool_result', ContentPart.toolResult('c1', '1'), text('aside')),
    say('tool', ContentPart.toolResult('c2', '2')),
    say('user', text('and?')),
  )
  const { messages } = toMessages(context, 'anthropic')
  assert.deepEqual(
    messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]),
    [
      ['assistant', 'tool_use', 'tool_use'],
      ['user', 'tool_result', 'tool_result', 'text'],
      ['user', 'text'],
    ],
  )
  assert.deepEqual(
    toMessages(context, 'openai-chat').messages.map(({ role }) => role),
    ['assistant', 'tool', 'user', 'tool', 'user'],
  )
  assert.deepEqual(
    toMessages(context, 'gemini').contents[1].parts.map((part) => part.functionResponse?.name ?? part.text),
    ['f', 'g', 'aside'],
  )
})

test("a result in the assistant's message and a call in the user's are converted", () => {
  const call = ContentPart.toolUse('c', 'f', '{}')
  const one = contextWith(say('assistant', call, ContentPart.toolResult('c', '5'), text('so it is 5')))
  assert.deepEqual(
    toMessages(one, 'anthropic').messages.map(({ role }) => role),
    ['assistant', 'user', 'assistant'],
  )
  const other = contextWith(say('user', text('a'), call))
  assert.deepEqual(
    toMessages(other, 'openai-chat').messages.map(({ role }) => role),
    ['user', 'assistant'],
  )
})

test('of unknown roles, developer becomes system, and any other user', () => {
  const context = Context.fromDict({
    messages: ['user', 'developer', 'robot', '', undefined].map((role) => ({ role, content: [text('x')] })),
  })
  assert.deepEqual(
    toMessages(context, 'openai-chat').messages.map(({ role }) => role),
    ['user', 'system', 'user', 'user', 'user'],
  )
})

test('later system messages go to the system prompt if the format does not support them', () => {
  const context = contextOf(peteos, {
    system: [text('one')],
    tools: null,
    messages: [say('user', text('a')), say('system', text('two'))],
  })
  assert.deepEqual(toMessages(context, 'anthropic').system, [text('one'), text('two')])
  assert.deepEqual(toMessages(context, 'gemini').systemInstruction, { parts: [{ text: 'one' }, { text: 'two' }] })
  assert.equal(toMessages(context, 'anthropic').messages.length, 1)
})

test('a system message that comes first becomes the system prompt, which windows keep', () => {
  for (const [provider, role, key] of [
    ['openai-chat', 'developer'],
    ['openai-responses', 'developer', 'input'],
    ['ai-sdk', 'system'],
  ]) {
    const messages = [
      { role, content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role, content: 'And kind.' },
    ]
    for (const value of [messages, { [key ?? 'messages']: messages }]) {
      const { system, messages: rest } = imported(value, provider)
      assert.deepEqual(system, [text('Be brief.')])
      assert.deepEqual(
        rest.map((message) => message.role),
        ['user', 'system'],
      )
    }
  }
})

test('numbers that a double cannot hold stay in the arguments of OpenAI', () => {
  const args = '{"id":12345678901234567890,"x":1.0}'
  const context = contextWith(say('assistant', ContentPart.toolUse('c', 'f', args)))
  const back = fromMessages(toMessages(context, 'openai-chat'), 'openai-chat')
  assert.equal(back.messages[0].content[0].arguments, args)
})

test('keys such as __proto__ are ordinary keys', () => {
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
