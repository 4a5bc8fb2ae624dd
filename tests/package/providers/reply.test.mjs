// `session.appendReply`: what the SDKs return becomes messages of the active context.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GenerateContentResponse } from '@google/genai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import OpenAI from 'openai'
import { z } from 'zod'
import { load } from '../support/installed.mjs'

const { MemoryStorage, Session, SessionError, toMessages } = await load('peteos-session')

const newSession = () => {
  const session = Session.create('agents', { storage: new MemoryStorage() })
  session.append({ role: 'user', content: [{ type: 'text', text: 'Go.' }] })
  return session
}
/** Appends a reply; returns the roles and parts that are stored, and the metadata of each message. */
const appended = (reply, provider) => {
  const session = newSession()
  const stored = session.appendReply(reply, provider)
  assert.deepEqual(stored, session.activeContext.messages.slice(1))
  return {
    parts: stored.map(({ role, content }) => [role, ...content]),
    metadata: stored.map(({ metadata }) => metadata),
  }
}
const text = (said) => ({ type: 'text', text: said })
const call = (id, name, args) => ({
  type: 'tool_use',
  call_id: id,
  name,
  arguments: args,
  approval_status: 'pending',
})
/** A client of an SDK whose API always replies with this. */
const replying = (Client, body) =>
  new Client({ apiKey: 'key', fetch: async () => Response.json(body, { headers: { 'x-request-id': 'r' } }) })

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
    { type: 'tool_use', id: 'toolu_2', name: 'read', input: { path: 'b' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 3000,
    output_tokens: 40,
    service_tier: 'standard',
  },
}

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      logprobs: null,
      message: {
        role: 'assistant',
        content: null,
        refusal: null,
        annotations: [],
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
      },
    },
    {
      index: 1,
      finish_reason: 'stop',
      logprobs: null,
      message: { role: 'assistant', content: 'Second', refusal: null },
    },
  ],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 12 },
  },
}

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'gpt-5',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'I look.', annotations: [], logprobs: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{}', status: 'completed' },
  ],
  usage: {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 64 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 12 },
    total_tokens: 120,
  },
}

const GENERATED = {
  candidates: [
    {
      index: 0,
      finishReason: 'STOP',
      content: {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'sig' },
          { functionCall: { name: 'read', args: { path: 'b' } } },
        ],
      },
    },
  ],
  modelVersion: 'gemini-3-pro',
  responseId: 'r-1',
  usageMetadata: {
    promptTokenCount: 100,
    cachedContentTokenCount: 64,
    candidatesTokenCount: 8,
    thoughtsTokenCount: 12,
    totalTokenCount: 120,
  },
}

test('anthropic: a message of the SDK', async () => {
  const reply = await replying(Anthropic, MESSAGE).messages.create({ model: 'm', max_tokens: 9, messages: [] })
  const { parts, metadata } = appended(reply, 'anthropic')
  assert.equal(parts.length, 1)
  const [role, thinking, said, ...calls] = parts[0]
  assert.deepEqual([role, thinking.text, thinking.signature, said], ['assistant', 'Hm.', 'sig', text('I look.')])
  assert.deepEqual(calls, [call('toolu_1', 'read', '{"path":"a"}'), call('toolu_2', 'read', '{"path":"b"}')])
  assert.deepEqual(metadata, [
    {
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      response_id: 'msg_1',
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 3210,
        output_tokens: 40,
        cache_read_tokens: 3000,
        cache_write_tokens: 200,
        raw: MESSAGE.usage,
      },
    },
  ])
  const session = newSession()
  session.appendReply(reply, 'anthropic')
  assert.deepEqual(toMessages(session.activeContext, 'anthropic').messages[1], {
    role: 'assistant',
    content: MESSAGE.content,
  })
})

test('openai-chat: a completion of the SDK, its first choice', async () => {
  const client = replying(OpenAI, COMPLETION)
  for (const method of ['create', 'parse']) {
    const reply = await client.chat.completions[method]({ model: 'm', messages: [] })
    const { parts, metadata } = appended(reply, 'openai-chat')
    assert.deepEqual(parts, [['assistant', call('call_1', 'read', '{"path":"a"}')]])
    const { raw, ...usage } = metadata[0].usage
    assert.deepEqual(raw, COMPLETION.usage)
    assert.deepEqual(
      { ...metadata[0], usage },
      {
        provider: 'openai-chat',
        model: 'gpt-5',
        response_id: 'chatcmpl-1',
        stop_reason: 'tool_calls',
        usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 64, reasoning_tokens: 12 },
      },
    )
  }
})

test('openai-responses: a response of the SDK is one message', async () => {
  const client = replying(OpenAI, RESPONSE)
  for (const method of ['create', 'parse']) {
    const reply = await client.responses[method]({ model: 'm', input: 'x' })
    const { parts, metadata } = appended(reply, 'openai-responses')
    const kinds = parts.map(([role, ...content]) => [role, ...content.map(({ type }) => type)])
    assert.deepEqual(kinds, [['assistant', 'thinking', 'text', 'tool_use']])
    assert.equal(parts[0][3].call_id, 'call_1')
    assert.deepEqual(
      [metadata[0].stop_reason, metadata[0].response_id, metadata[0].usage.reasoning_tokens],
      ['completed', 'resp_1', 12],
    )
  }
})

test('gemini: a response of the SDK, with getters, and of the REST API', () => {
  const ofSdk = Object.assign(new GenerateContentResponse(), structuredClone(GENERATED), {
    sdkHttpResponse: { responseInternal: new Response() },
  })
  for (const reply of [ofSdk, GENERATED]) {
    const session = newSession()
    const [first] = session.appendReply(reply, 'gemini')
    const [second] = session.appendReply(reply, 'gemini')
    const ids = [first, second].flatMap(({ content }) => content.slice(1).map(({ call_id }) => call_id))
    assert.equal(new Set(ids).size, 4, 'each call has an id of its own, in each reply')
    assert.ok(ids.every((id) => id.length <= 40))
    assert.deepEqual(
      first.content.map(({ type }) => type),
      ['thinking', 'tool_use', 'tool_use'],
    )
    const { raw: _, ...usage } = first.metadata.usage
    assert.deepEqual(
      { ...first.metadata, usage },
      {
        provider: 'gemini',
        model: 'gemini-3-pro',
        response_id: 'r-1',
        stop_reason: 'STOP',
        usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 64, reasoning_tokens: 12 },
      },
    )
  }
})

const USAGE = {
  inputTokens: { total: 100, noCache: 36, cacheRead: 64, cacheWrite: 0 },
  outputTokens: { total: 20, text: 8, reasoning: 12 },
}
const STEPS = [
  {
    content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: '{"path":"a"}' }],
    finishReason: { unified: 'tool-calls', raw: 'x' },
    usage: USAGE,
    warnings: [],
    response: { id: 'r1', modelId: 'm' },
  },
  {
    content: [{ type: 'text', text: 'Done.' }],
    finishReason: { unified: 'stop', raw: 'x' },
    usage: USAGE,
    warnings: [],
    response: { id: 'r2', modelId: 'm' },
  },
]
const generateOptions = (model) => ({
  model,
  prompt: 'Go.',
  stopWhen: stepCountIs(2),
  tools: { read: tool({ inputSchema: z.object({ path: z.string() }), execute: () => 'text of a' }) },
})

test('ai-sdk: the result of generateText has the messages and the usage of all steps', async () => {
  let step = 0
  const model = new MockLanguageModelV3({ doGenerate: async () => STEPS[step++] })
  const { parts, metadata } = appended(await generateText(generateOptions(model)), 'ai-sdk')
  assert.deepEqual(
    parts.map(([role, ...content]) => [role, ...content.map(({ type }) => type)]),
    [
      ['assistant', 'tool_use'],
      ['tool_result', 'tool_result'],
      ['assistant', 'text'],
    ],
  )
  assert.equal(parts[0][1].approval_status, 'approved')
  assert.deepEqual(metadata.slice(0, 2), [undefined, undefined])
  assert.equal(metadata[2].usage.input_tokens, 200)
  assert.equal(metadata[2].usage.cache_read_tokens, 128)
  assert.deepEqual([metadata[2].stop_reason, metadata[2].response_id], ['stop', 'r2'])
})

test('ai-sdk: the fields of streamText are awaited first', async () => {
  const chunks = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Done.' },
    { type: 'text-end', id: 't' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'x' }, usage: USAGE },
  ]
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) })
  const result = streamText({ model, prompt: 'Go.' })
  const session = newSession()
  assert.throws(() => session.appendReply(result, 'ai-sdk'), {
    name: 'InvalidArgumentError',
    argument: 'reply.response',
    message: 'reply.response: is a promise; await it first',
  })
  const [response, totalUsage, finishReason] = await Promise.all([
    result.response,
    result.totalUsage,
    result.finishReason,
  ])
  const { parts, metadata } = appended({ response, totalUsage, finishReason }, 'ai-sdk')
  assert.deepEqual(parts, [['assistant', text('Done.')]])
  assert.equal(metadata[0].usage.reasoning_tokens, 12)
})

test('a refusal with a text is a message', () => {
  const choice = { finish_reason: 'stop', message: { role: 'assistant', content: null, refusal: 'I will not.' } }
  assert.deepEqual(appended({ choices: [choice] }, 'openai-chat').parts, [['assistant', text('I will not.')]])
  const item = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
  const { parts } = appended({ ...RESPONSE, output: [item] }, 'openai-responses')
  assert.deepEqual(parts[0].length, 2)
  assert.equal(parts[0][1].text, 'No.')
})

test('a reply that was cut off is appended with its reason', () => {
  const said = [{ type: 'text', text: 'I wa' }]
  const reason = (reply, provider) => appended(reply, provider).metadata[0].stop_reason
  assert.equal(reason({ ...MESSAGE, content: said, stop_reason: 'max_tokens' }, 'anthropic'), 'max_tokens')
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  assert.equal(reason({ ...RESPONSE, ...incomplete }, 'openai-responses'), 'max_output_tokens')
})

test('a model that finished without saying anything appends nothing', () => {
  for (const [reply, provider] of [
    [{ ...MESSAGE, content: [], stop_reason: 'end_turn' }, 'anthropic'],
    [{ choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: null } }] }, 'openai-chat'],
    [{ ...RESPONSE, output: [] }, 'openai-responses'],
    [{ candidates: [{ finishReason: 'STOP' }] }, 'gemini'],
    [{ response: { messages: [] }, finishReason: 'stop' }, 'ai-sdk'],
  ]) {
    assert.deepEqual(appended(reply, provider).parts, [], provider)
  }
})

const REFUSED = [
  [
    'anthropic',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'reply.error',
    /Overloaded/,
  ],
  ['anthropic', { ...MESSAGE, content: [], stop_reason: 'refusal' }, 'reply.stop_reason', /"refusal"/],
  ['anthropic', { ...MESSAGE, role: 'user' }, 'reply.role', /"user"/],
  [
    'anthropic',
    { ...MESSAGE, content: [{ type: 'tool_use', name: 'f', input: {} }] },
    'reply.content[0].id',
    /missing/,
  ],
  ['anthropic', COMPLETION, 'reply.content', /missing/],
  ['anthropic', Promise.resolve(MESSAGE), 'reply', /await/],
  ['anthropic', null, 'reply', /null/],
  ['anthropic', 'text', 'reply', /string/],
  ['openai-chat', { error: { message: 'Quota' } }, 'reply.error', /Quota/],
  ['openai-chat', { ...COMPLETION, choices: [] }, 'reply.choices', /no choice/],
  [
    'openai-chat',
    { choices: [{ finish_reason: 'content_filter', message: { role: 'assistant', content: '' } }] },
    'reply.choices[0].finish_reason',
    /content_filter/,
  ],
  [
    'openai-chat',
    { choices: [{ message: { role: 'assistant', content: [{}] } }] },
    'reply.choices[0].message.content[0].type',
    /missing/,
  ],
  [
    'openai-responses',
    { ...RESPONSE, status: 'failed', error: { code: 'x', message: 'Broken' } },
    'reply.error',
    /Broken/,
  ],
  ['openai-responses', { ...RESPONSE, status: 'in_progress' }, 'reply.status', /in_progress/],
  [
    'openai-responses',
    { ...RESPONSE, output: [], status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    'reply.incomplete_details.reason',
    /content_filter/,
  ],
  ['openai-responses', { ...RESPONSE, output: [RESPONSE.output[1], 5] }, 'reply.output[1]', /object/],
  ['gemini', { error: { code: 429, message: 'Slow down' } }, 'reply.error', /Slow down/],
  ['gemini', { promptFeedback: { blockReason: 'SAFETY' } }, 'reply.promptFeedback.blockReason', /SAFETY/],
  ['gemini', { candidates: [] }, 'reply.candidates', /no candidate/],
  ['gemini', { candidates: [{ finishReason: 'SAFETY' }] }, 'reply.candidates[0].finishReason', /SAFETY/],
  [
    'gemini',
    { candidates: [{ content: { parts: [{ functionCall: {} }] } }] },
    'reply.candidates[0].content.parts[0].functionCall.name',
    /missing/,
  ],
  ['ai-sdk', { text: 'x' }, 'reply.response', /found undefined/],
  ['ai-sdk', { response: { messages: [] }, finishReason: 'content-filter' }, 'reply.finishReason', /content-filter/],
  [
    'ai-sdk',
    {
      response: {
        messages: [
          { role: 'assistant', content: [text('a')] },
          { role: 'assistant', content: 5 },
        ],
      },
    },
    'reply.response.messages[1].content',
    /array/,
  ],
]

for (const [provider, reply, argument, message] of REFUSED) {
  test(`${provider}: ${argument} is at fault (${message.source})`, () => {
    const session = newSession()
    const before = JSON.stringify(session.activeContext)
    assert.throws(
      () => session.appendReply(reply, provider),
      (error) => {
        assert.ok(error instanceof SessionError, String(error))
        assert.equal(error.argument, argument)
        assert.match(error.message, message)
        return true
      },
    )
    assert.equal(JSON.stringify(session.activeContext), before)
  })
}

test('an unknown provider, a getter that throws, and no active context', () => {
  const session = newSession()
  assert.throws(() => session.appendReply(MESSAGE, 'mistral'), { argument: 'provider' })
  assert.throws(() => session.appendReply(MESSAGE), { argument: 'provider' })
  const reply = {
    get content() {
      throw new Error('own')
    },
  }
  assert.throws(() => session.appendReply(reply, 'anthropic'), { argument: 'reply', message: /could not be read/ })
  session.rawDict = { ...session.rawDict, active_context_id: null }
  assert.throws(() => session.appendReply(MESSAGE, 'anthropic'), { name: 'NoActiveContextError' })
})

test('a reply that exceeds a limit of the file leaves nothing behind, and the next append works', () => {
  const session = Session.create('agents', { storage: new MemoryStorage(), maxFileBytes: 8_000 })
  session.append({ role: 'user', content: [{ type: 'text', text: 'Go.' }] })
  const message = (length) => ({ role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(length) }] })
  const before = JSON.stringify(session.activeContext)
  const messages = [message(1_000), { role: 'user', content: 'more' }, message(9_000)]
  assert.throws(() => session.appendReply({ response: { messages } }, 'ai-sdk'), { name: 'FileTooLargeError' })
  assert.equal(JSON.stringify(session.activeContext), before)
  assert.equal(session.activeContext.messageCount, 1)
  const [stored] = session.appendReply({ response: { messages: [message(1_000)] } }, 'ai-sdk')
  assert.equal(stored._sequence_number, session.activeContext.messages[0]._sequence_number + 1)
  assert.equal(session.activeContext.messages[1], stored)
})
