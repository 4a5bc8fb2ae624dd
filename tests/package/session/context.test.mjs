// Contexts: appending, forking, stripping, dicts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, ContentPart, MemoryStorage, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

const system = () => SystemPromptMessage.create('Be careful.')
const tools = () => ToolDefinitionsMessage.create([{ name: 'read', description: 'Reads', parameters: {} }])
const texts = (context) => context.messages.map((message) => message.content?.[0]?.text ?? message._type)

test('a new context has the fields of docs/format.md', () => {
  const context = Context.create()
  assert.deepEqual(context.anchorPoints, [
    ['system_prompt', 0],
    ['tools', 0],
    ['messages', 0],
  ])
  assert.deepEqual(context.messages, [])
  assert.equal(context.messageCount, 0)
  assert.deepEqual(context.contentMap, {})
  assert.deepEqual(context.children, [])
  assert.equal(context.originContextId, null)
  assert.equal(context.systemPromptMessage, null)
  assert.equal(context.toolDefinitionsMessage, null)
  const dict = context.rawDict
  assert.equal(dict._mutation_counter, 3)
  assert.equal(dict.message_sequence, 0)
  assert.deepEqual(dict._anchor_sequences, [0, 1, 2])
})

test('the special messages come first and are named', () => {
  const cases = [
    [system(), tools()],
    [system(), null],
    [null, tools()],
    [undefined, undefined],
  ]
  for (const [systemPromptMessage, toolDefinitionsMessage] of cases) {
    const context = Context.create({ systemPromptMessage, toolDefinitionsMessage })
    context.append(text('Hi'))
    const expected = [systemPromptMessage, toolDefinitionsMessage].filter(Boolean)
    assert.deepEqual(
      context.messages.slice(0, -1).map(({ id }) => id),
      expected.map(({ id }) => id),
    )
    assert.equal(context.systemPromptMessage, systemPromptMessage ? context.messages[0] : null)
    assert.equal(context.toolDefinitionsMessage, toolDefinitionsMessage ? context.messages[expected.length - 1] : null)
    assert.equal(context.rawDict.system_prompt_message_id ?? null, systemPromptMessage?.id ?? null)
    assert.equal(context.rawDict.tool_definitions_message_id ?? null, toolDefinitionsMessage?.id ?? null)
    assert.deepEqual(
      context.anchorPoints.map(([, index]) => index),
      [systemPromptMessage ? 1 : 0, expected.length, expected.length + 1],
    )
  }
})

test('a special message may be a plain object without a role', () => {
  const context = Context.create({
    systemPromptMessage: { content: [{ type: 'text', text: 'x' }] },
    toolDefinitionsMessage: { content: [] },
  })
  assert.deepEqual(
    context.messages.map(({ _type, role }) => [_type, role]),
    [
      ['SystemPromptMessage', 'system'],
      ['ToolDefinitionsMessage', 'tool'],
    ],
  )
})

test('append completes a message and returns the stored message', () => {
  const context = Context.create()
  const stored = context.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }], mood: 'good' })
  assert.equal(stored, context.messages[0])
  assert.match(stored.id, /^[0-9a-f-]{36}$/)
  assert.equal(stored._type, 'Message')
  assert.equal(stored.mood, 'good')
  assert.equal(stored._sequence_number, 3)
  assert.deepEqual(stored._hook_ids, [])
  const own = {
    id: 'my-id',
    creation_timestamp: '2020-01-01T00:00:00.000001',
    _type: 'Special',
    role: 'tool',
    token_count: 7,
    _hook_ids: ['h'],
    metadata: { a: 1 },
  }
  assert.deepEqual(context.append(own), { ...own, _sequence_number: 4 })
  assert.equal(context.messageCount, 2)
  assert.equal(context.rawDict.message_sequence, 2)
  assert.equal(context.rawDict._mutation_counter, 5)
})

test('a message from one context gets a new sequence number in another', () => {
  const [one, two] = [Context.create(), Context.create()]
  one.append(text('1'))
  const stored = one.append(text('2'))
  const copy = two.append(stored)
  assert.equal(stored._sequence_number, 4)
  assert.equal(copy._sequence_number, 3)
  assert.equal(copy.id, stored.id)
})

test('updateMessage changes fields and keeps id and position', () => {
  const context = Context.create()
  context.append(text('1'))
  const call = context.append({ role: 'assistant', content: [ContentPart.toolUse('c', 'f', {})], token_count: 9 })
  context.append(text('3'))
  const [part] = call.content
  const changed = context.updateMessage(call.id, { content: [{ ...part, approval_status: 'approved' }] })
  assert.equal(context.messages[1], changed)
  assert.equal(changed.content[0].approval_status, 'approved')
  assert.equal('token_count' in changed, false, 'an outdated count is dropped')
  assert.deepEqual([changed.id, changed._sequence_number], [call.id, call._sequence_number])
  assert.equal(context.messageCount, 3)
  const before = context.rawDict
  refusedNow(() => context.updateMessage('none', {}), 'InvalidArgumentError', { argument: 'id', message: /none/ })
  refusedNow(() => context.updateMessage(5, {}), 'InvalidArgumentError', { argument: 'id' })
  refusedNow(() => context.updateMessage(call.id, { id: 'other' }), 'InvalidMessageError', { field: 'id' })
  refusedNow(() => context.updateMessage(call.id, { content: 'x' }), 'InvalidMessageError', { field: 'content' })
  refusedNow(() => context.updateMessage(call.id, null), 'InvalidMessageError')
  assert.deepEqual(context.rawDict, before)
})

test('fork copies everything, names its origin and is listed in it', () => {
  const parent = Context.create({ systemPromptMessage: system(), toolDefinitionsMessage: tools() })
  parent.append(text('1'))
  parent.append(text('2'))
  const child = parent.fork()
  assert.deepEqual(
    child.messages.map(({ id }) => id),
    parent.messages.map(({ id }) => id),
  )
  assert.deepEqual(child.anchorPoints, parent.anchorPoints)
  assert.notEqual(child.id, parent.id)
  assert.equal(child.originContextId, parent.id)
  assert.equal(child.rawDict.parent_mutation_counter, 0)
  assert.deepEqual(parent.children, [child.id])
  assert.deepEqual(child.children, [])
  assert.deepEqual(
    child.messages.map((message) => message._sequence_number),
    [3, 4, 5, 6],
  )
  child.append(text('only in the child'))
  assert.equal(parent.messageCount, 4)
  const second = parent.fork()
  assert.deepEqual(parent.children, [child.id, second.id])
})

test('fork selects by sequence number and keeps the special messages', () => {
  const context = Context.create({ systemPromptMessage: system() })
  for (const content of ['a', 'b', 'c', 'd']) context.append(text(content))
  // The anchors took 0 to 2, the system prompt 3, the others 4 to 7; the next is 8.
  const fork = (options) => texts(context.fork(options)).slice(1).join('')
  assert.equal(fork({}), 'abcd')
  assert.equal(fork({ start: 5 }), 'bcd')
  assert.equal(fork({ end: 6 }), 'ab')
  assert.equal(fork({ start: 5, end: 7 }), 'bc')
  assert.equal(fork({ start: -2 }), 'cd')
  assert.equal(fork({ end: -3 }), 'a')
  assert.equal(fork({ start: -3, end: -1 }), 'bc')
  assert.equal(fork({ start: 0, end: 0 }), '')
  assert.equal(fork({ start: 100 }), '')
  assert.equal(fork({ start: 7, end: 5 }), '')
  assert.equal(fork({ start: -100 }), 'abcd')
  assert.equal(fork({ start: null, end: undefined }), 'abcd')
})

test('fork replaces the special messages', () => {
  const context = Context.create({ systemPromptMessage: system() })
  context.append(text('a'))
  const [newSystem, newTools] = [SystemPromptMessage.create('New.'), tools()]
  const child = context.fork({ systemPromptMessage: newSystem, toolDefinitionsMessage: newTools })
  assert.deepEqual(
    child.messages.map(({ id }) => id),
    [newSystem.id, newTools.id, context.messages[1].id],
  )
  assert.equal(child.systemPromptMessage.id, newSystem.id)
  assert.equal(child.toolDefinitionsMessage.id, newTools.id)
  assert.equal(context.systemPromptMessage.content[0].text, 'Be careful.')
  // The replacements are appended last.
  assert.deepEqual(
    child.messages.map((message) => message._sequence_number),
    [4, 5, 3],
  )
})

test('a context created from a parent has its content map', () => {
  const parent = Context.fromDict({ content_map: { abc: 'text', __proto__x: 'y' } })
  const child = Context.create({ parentContext: parent })
  assert.deepEqual(child.contentMap, parent.contentMap)
  assert.equal(child.originContextId, parent.id)
  assert.deepEqual(parent.fork().contentMap, parent.contentMap)
})

test('stripThinking leaves out thinking, and messages that hold nothing else', () => {
  const context = Context.create({ systemPromptMessage: system() })
  context.append(text('question'))
  context.append(Message.create('assistant', [ContentPart.thinking('hm'), ContentPart.text('answer')]))
  context.append(Message.create('assistant', [ContentPart.thinking('only this')]))
  context.append({ role: 'assistant' })
  context.append(Message.create('user', [ContentPart.text('thanks')]))
  const child = context.stripThinking()
  assert.deepEqual(texts(child), ['Be careful.', 'question', 'answer', 'thanks'])
  assert.ok(child.messages.every((message) => message.content.every(({ type }) => type !== 'thinking')))
  assert.equal(child.originContextId, context.id)
  assert.deepEqual(context.children, [child.id])
  // Unlike in the reference the anchors and counters fit the messages.
  assert.deepEqual(child.anchorPoints, [
    ['system_prompt', 1],
    ['tools', 1],
    ['messages', 4],
  ])
  assert.equal(child.rawDict.message_sequence, 4)
  child.append(text('more'))
  assert.equal(texts(child).at(-1), 'more')
  assert.equal(context.messageCount, 6)
})

test('fromDict accepts the dict of any context', async () => {
  const context = Context.create({ systemPromptMessage: system() })
  context.append(text('Hi'))
  context.addAnchor('notes', 1)
  const copy = Context.fromDict(context.rawDict)
  assert.deepEqual(copy.rawDict, context.rawDict)
  assert.notEqual(copy, context)
  copy.append(text('more'), 'notes')
  assert.equal(context.messageCount, 2)
  const parsed = Context.fromDict(JSON.parse(JSON.stringify(context)))
  assert.deepEqual(parsed.rawDict, context.rawDict)
})

test('fromDict adds missing fields', () => {
  const empty = Context.fromDict({})
  assert.match(empty.id, /^\d{8}-/)
  assert.deepEqual(empty.messages, [])
  const context = Context.fromDict({ id: 'c', messages: [{ role: 'user', id: 'm' }, { role: 'assistant' }] })
  assert.equal(context.id, 'c')
  assert.equal(context.messageCount, 2)
  assert.equal(context.messages[0].id, 'm')
  assert.match(context.messages[1].id, /^[0-9a-f-]{36}$/)
  context.append(text('third'))
  assert.equal(texts(context).at(-1), 'third')
})

test('no context or session gets an id that begins with a dot, because its file would be invisible', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const context = session.activeContext
  for (const id of ['.x', '..x', '.session', '.lock']) {
    refusedNow(() => Context.fromDict({ id }), 'InvalidArgumentError', { argument: 'dict.id' }, id)
    const replaceContext = () => {
      context.rawDict = { ...context.rawDict, id }
    }
    refusedNow(replaceContext, 'InvalidArgumentError', { argument: 'rawDict.id' }, id)
    const replaceSession = () => {
      session.rawDict = { ...session.rawDict, uuid: id }
    }
    refusedNow(replaceSession, 'InvalidArgumentError', { argument: 'rawDict.uuid' }, id)
    const activate = () => {
      session.rawDict = { ...session.rawDict, active_context_id: id }
    }
    refusedNow(activate, 'InvalidArgumentError', { argument: 'rawDict.active_context_id' }, id)
  }
  await session.save()
  assert.deepEqual((await storage.list(session.sessionDir)).sort(), [`${context.id}.json`, 'session.json'].sort())
})

test('rawDict is replaced as a whole, and keeps its id', () => {
  const context = Context.create()
  const first = context.append(text('1'))
  context.append(text('2'))
  const [, second] = context.messages
  context.rawDict = { ...context.rawDict, messages: [first], custom: { a: [1] }, children: ['x'] }
  assert.deepEqual(context.messages, [first])
  assert.deepEqual(context.rawDict.custom, { a: [1] })
  assert.deepEqual(context.children, ['x'])
  const before = context.rawDict
  refusedNow(() => (context.rawDict = { ...before, id: 'other' }), 'InvalidArgumentError', { argument: 'rawDict.id' })
  refusedNow(() => (context.rawDict = { ...before, messages: [second, { role: 5 }] }), 'InvalidArgumentError', {
    argument: 'rawDict.messages[1].role',
  })
  refusedNow(() => (context.rawDict = { ...before, anchor_points: [['a', -1]] }), 'InvalidArgumentError', {
    argument: 'rawDict.anchor_points[0]',
  })
  refusedNow(() => (context.rawDict = { ...before, n: NaN }), 'InvalidArgumentError', { argument: 'rawDict.n' })
  for (const wrong of [null, undefined, [], 'x', 5, () => ({})]) {
    refusedNow(() => (context.rawDict = wrong), 'InvalidArgumentError', { argument: 'rawDict' })
  }
  assert.equal(context.rawDict, before)
})

test('a session dict is replaced as a whole, and keeps its uuid', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  session.activeContext.append(text('1'))
  const first = session.activeContext
  const second = session.rollingSequenceWindow(0)
  session.rawDict = { ...session.rawDict, active_context_id: first.id, custom: 1, is_active: true }
  assert.equal(session.activeContext, first)
  assert.equal(session.isActive, true)
  const before = session.rawDict
  const wrong = {
    'rawDict.uuid': { uuid: 'other' },
    'rawDict.active_context_id': { active_context_id: 'not-loaded' },
    'rawDict.auto_approve_tools': { auto_approve_tools: ['a', 1] },
    'rawDict.state_data': { state_data: [] },
    'rawDict.is_active': { is_active: 'yes' },
    'rawDict.custom': { custom: 1n },
  }
  for (const [argument, fields] of Object.entries(wrong)) {
    refusedNow(() => (session.rawDict = { ...before, ...fields }), 'InvalidArgumentError', { argument })
  }
  for (const value of [null, undefined, [], 'x', 5]) {
    refusedNow(() => (session.rawDict = value), 'InvalidArgumentError', { argument: 'rawDict' })
  }
  assert.equal(session.rawDict, before)
  assert.equal(session.activeContext, first)
  session.rawDict = { ...before, active_context_id: null }
  assert.equal(session.activeContext, null)
  session.rawDict = before
  assert.equal(session.activeContext, first)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.rawDict, session.rawDict)
  assert.equal((await again.loadContext(second.id)).messageCount, 0)
})

test('rawDict assigned to itself changes nothing in the file', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  session.activeContext.append(text('é'))
  await session.save()
  const before = storage.texts()
  session.rawDict = session.rawDict
  session.activeContext.rawDict = session.activeContext.rawDict
  await session.save()
  assert.deepEqual(storage.texts(), before)
})
