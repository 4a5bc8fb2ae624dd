// The members of a session: its contexts, settings and state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, ContentPart, MemoryStorage, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

const tool = { name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: {} } }

test('activeContext is one object until another context becomes active', async () => {
  const session = Session.create('a', { storage: new MemoryStorage() })
  const first = session.activeContext
  assert.equal(session.activeContext, first)
  first.append(text('1'))
  first.append(text('2'))
  session.autoApproveTools = ['x']
  await session.save()
  assert.equal(session.activeContext, first)
  const window = session.rollingSequenceWindow(1)
  assert.equal(session.activeContext, window)
  assert.equal(session.activeContextId, window.id)
  assert.notEqual(window, first)
  assert.equal(session.rollingSequenceWindow(1), null)
  assert.equal(session.activeContext, window)
  session.setActiveContext(first)
  assert.equal(session.activeContext, first)
  const own = Context.create()
  session.setActiveContext(own)
  assert.equal(session.activeContext, own)
})

test('loadContext returns the same object for the same context', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const first = session.activeContext
  for (const content of ['1', '2', '3']) first.append(text(content))
  const window = session.rollingSequenceWindow(1)
  assert.equal(await session.loadContext(first.id), first)
  assert.equal(await session.loadContext(window.id), window)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(await again.loadContext(again.activeContextId), again.activeContext)
  const [one, two] = await Promise.all([again.loadContext(first.id), again.loadContext(first.id)])
  assert.equal(one, two)
  assert.equal(await again.loadContext(first.id), one)
  assert.notEqual(one, first, 'another session has its own objects')
  assert.deepEqual(one.rawDict, first.rawDict)
  again.setActiveContext(one)
  assert.equal(again.activeContext, one)
  assert.equal(await again.loadContext(window.id), await again.loadContext(window.id))
})

test('a context that was changed and dropped is loaded with its changes', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const { id } = session.activeContext
  session.activeContext.append(text('1'))
  session.setActiveContext(Context.create())
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  ;(await again.loadContext(id)).append(text('2'))
  // Only the session holds the context, and must save it.
  assert.deepEqual(
    (await again.loadContext(id)).messages.map(({ content }) => content[0].text),
    ['1', '2'],
  )
  await again.save()
  const third = await Session.load('a', session.uuid, { storage })
  assert.equal((await third.loadContext(id)).messageCount, 2)
})

test('listContexts lists the ids of saved, unsaved and active contexts', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const first = session.activeContext
  assert.deepEqual(await session.listContexts(), [first.id])
  first.append(text('1'))
  const second = session.rollingSequenceWindow(0)
  const sorted = (...contexts) => contexts.map(({ id }) => id).sort()
  assert.deepEqual(await session.listContexts(), sorted(first, second))
  await session.save()
  assert.deepEqual(await session.listContexts(), sorted(first, second))
  const third = Context.create()
  session.setActiveContext(third)
  const all = sorted(first, second, third)
  assert.deepEqual(await session.listContexts(), all)
  for (const junk of ['notes.txt', '.x.json', `.${first.id}.json.1.tmp`, 'a\\b.json', 'sub/x.json', '.json']) {
    storage.put(`${session.sessionDir}/${junk}`, 'junk')
  }
  assert.deepEqual(await session.listContexts(), all)
  await session.save()
  assert.deepEqual(await (await Session.load('a', session.uuid, { storage })).listContexts(), all)
})

test('autoApproveTools and isActive are read, set, and saved', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  session.autoApproveTools = ['read', 'grep']
  session.isActive = true
  assert.deepEqual(session.autoApproveTools, ['read', 'grep'])
  assert.equal(session.isActive, true)
  assert.deepEqual(session.rawDict.auto_approve_tools, ['read', 'grep'])
  assert.throws(() => session.autoApproveTools.push('x'), TypeError)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual([again.autoApproveTools, again.isActive], [['read', 'grep'], true])
})

test('the state is a store of strings with compare and swap', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const { state } = session
  assert.equal(session.state, state)
  assert.equal(state.get('step'), null)
  state.create('step', '1')
  state.create('__proto__', 'own')
  state.create('', 'empty')
  assert.equal(state.get('step'), '1')
  assert.equal(state.get('toString'), null)
  state.update('step', '1', '2')
  refusedNow(() => state.create('step', '9'), 'InvalidArgumentError', { argument: 'name', message: /step/ })
  refusedNow(() => state.update('step', '1', '9'), 'ConflictError', { variable: 'step', message: /step/ })
  refusedNow(() => state.update('none', '1', '2'), 'InvalidArgumentError', { argument: 'name' })
  refusedNow(() => state.delete('none'), 'InvalidArgumentError', { argument: 'name' })
  refusedNow(() => state.create('n', 5), 'InvalidArgumentError', { argument: 'value' })
  refusedNow(() => state.create(5, 'v'), 'InvalidArgumentError', { argument: 'name' })
  refusedNow(() => state.update('step', null, 'v'), 'InvalidArgumentError', { argument: 'oldValue' })
  refusedNow(() => state.update('step', '2', undefined), 'InvalidArgumentError', { argument: 'newValue' })
  assert.deepEqual(state.list(), ['step', '__proto__', ''])
  state.delete('')
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.state.list(), ['step', '__proto__'])
  assert.equal(again.state.get('__proto__'), 'own')
  assert.equal(again.state.get('step'), '2')
  assert.equal(Object.hasOwn(again.rawDict.state_data, '__proto__'), true)
  assert.equal({}.own, undefined)
})

test('a session without an active context has none, and no window', async () => {
  const storage = new RecordingStorage({ 'a/s/session.json': '{"uuid": "s"}' })
  const session = await Session.load('a', 's', { storage })
  assert.equal(session.activeContext, null)
  assert.equal(session.activeContextId, null)
  assert.equal(session.rollingSequenceWindow(1), null)
  assert.equal(session.rollingTokenWindow(1), null)
  assert.deepEqual(await session.listContexts(), [])
  const context = Context.create()
  session.setActiveContext(context)
  assert.equal(session.activeContextId, context.id)
  await session.save()
  assert.equal((await Session.load('a', 's', { storage })).activeContext.id, context.id)
})

test('missing fields of session.json get their defaults', async () => {
  for (const source of ['{}', '{"active_context_id": ""}', '{"uuid": "s", "active_context_id": null}']) {
    const session = await Session.load('a', 's', { storage: new RecordingStorage({ 'a/s/session.json': source }) })
    assert.equal(session.uuid, 's')
    assert.deepEqual(session.rawDict.auto_approve_tools, [])
    assert.deepEqual(session.rawDict.state_data, {})
    assert.equal(session.rawDict.is_active, false)
    assert.equal(session.activeContext, null)
  }
})

test("an absent session is a SessionNotFoundError with Node's code", async (t) => {
  const storage = new RecordingStorage()
  await refused(() => Session.load('agents', 'nobody', { storage }), 'SessionNotFoundError', {
    code: 'ENOENT',
    path: 'agents/nobody/session.json',
    message: /agents\/nobody\/session\.json/,
  })
  assert.deepEqual(storage.calls, ['read agents/nobody/session.json'])
  await refused(() => Session.load(tempDir(t), 'nobody'), 'SessionNotFoundError', { code: 'ENOENT' })
})

test('an absent context is a ContextNotFoundError', async () => {
  const storage = new RecordingStorage({ 'a/s/session.json': '{"uuid": "s", "active_context_id": "gone"}' })
  await refused(() => Session.load('a', 's', { storage }), 'ContextNotFoundError', {
    id: 'gone',
    path: 'a/s/gone.json',
  })
  const session = Session.create('a', { storage })
  await refused(() => session.loadContext('gone'), 'ContextNotFoundError', {
    id: 'gone',
    path: `${session.sessionDir}/gone.json`,
  })
})

test('JSON.stringify returns the dicts', () => {
  const session = Session.create('a', {
    storage: new MemoryStorage(),
    systemPromptMessage: SystemPromptMessage.create('x'),
  })
  const context = session.activeContext
  context.append(text('Hi'))
  assert.equal(JSON.stringify(session), JSON.stringify(session.rawDict))
  assert.equal(JSON.stringify(context), JSON.stringify(context.rawDict))
  assert.deepEqual(JSON.parse(JSON.stringify({ session, context })), {
    session: session.rawDict,
    context: context.rawDict,
  })
  assert.deepEqual(JSON.parse(JSON.stringify(context)).messages, context.messages)
})

test('the factories return plain objects with the keys of docs/format.md', () => {
  const source = { type: 'base64', data: 'AA==', media_type: 'image/png' }
  assert.deepEqual(ContentPart.text('a'), { type: 'text', text: 'a' })
  assert.deepEqual(ContentPart.thinking('a'), { type: 'thinking', text: 'a' })
  for (const kind of ['image', 'video', 'audio', 'pdf'])
    assert.deepEqual(ContentPart[kind](source), { type: kind, source })
  assert.deepEqual(ContentPart.toolUse('c', 'read', { path: 'x', n: 1 }), {
    type: 'tool_use',
    call_id: 'c',
    name: 'read',
    arguments: '{"path":"x","n":1}',
    approval_status: 'pending',
  })
  assert.equal(ContentPart.toolUse('c', 'read', '{ "as": "it is" }').arguments, '{ "as": "it is" }')
  assert.deepEqual(ContentPart.toolResult('c', 'out'), {
    type: 'tool_result',
    call_id: 'c',
    content: 'out',
    execution_status: 'executed',
  })
  const parts = [ContentPart.text('out'), ContentPart.image(source)]
  assert.deepEqual(ContentPart.toolResult('c', parts, { isError: true, status: 'aborted' }), {
    type: 'tool_result',
    call_id: 'c',
    content: parts,
    execution_status: 'aborted',
    is_error: true,
  })
  assert.deepEqual(Message.create('user', 'Hi').content, [{ type: 'text', text: 'Hi' }])
  assert.deepEqual(Message.create('user', '').content, [{ type: 'text', text: '' }])
  assert.deepEqual(ContentPart.tool(tool.name, tool.description, tool.parameters), { type: 'tool', ...tool })
  const message = Message.create('assistant', [ContentPart.text('a')], { mood: 'good' })
  assert.equal(Object.getPrototypeOf(message), Object.prototype)
  assert.match(message.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
  assert.deepEqual(
    { ...message, id: '', creation_timestamp: '' },
    {
      _type: 'Message',
      id: '',
      role: 'assistant',
      content: [{ type: 'text', text: 'a' }],
      creation_timestamp: '',
      _hook_ids: [],
      metadata: { mood: 'good' },
    },
  )
  assert.equal('metadata' in Message.create('user', []), false)
  const system = SystemPromptMessage.create('Be careful.')
  assert.deepEqual(
    [system._type, system.role, system._static_text, system.content],
    ['SystemPromptMessage', 'system', 'Be careful.', [{ type: 'text', text: 'Be careful.' }]],
  )
  const tools = ToolDefinitionsMessage.create([tool])
  assert.deepEqual(
    [tools._type, tools.role, tools.content],
    ['ToolDefinitionsMessage', 'tool', [{ type: 'tool', ...tool }]],
  )
})

test('a message from a factory may be changed before it is appended; later changes have no effect', () => {
  const context = Context.create()
  const message = Message.create('user', [ContentPart.text('a')])
  message.content.push(ContentPart.text('b'))
  const stored = context.append(message)
  message.content.push(ContentPart.text('c'))
  assert.equal(stored.content.length, 2)
  assert.equal(stored.id, message.id)
  assert.equal(context.messages[0], stored)
})

test('every kind of part survives a save and a load', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const source = { type: 'url', url: 'https://example.com/x.png' }
  const parts = [
    ContentPart.text('a'),
    ContentPart.thinking('b'),
    ContentPart.image(source),
    ContentPart.video(source),
    ContentPart.audio({ type: 'base64', data: '', media_type: 'audio/wav' }),
    ContentPart.pdf(source),
    ContentPart.toolUse('1', 'f', {}),
    ContentPart.toolResult('1', 'x'),
    ContentPart.tool('f', 'd', { type: 'object' }),
    { type: 'hologram', depth: 3, nested: { a: [null, true] } },
  ]
  session.activeContext.append(Message.create('assistant', parts))
  session.activeContext.append({ role: 'user' })
  session.activeContext.append({ role: 'system', content: [] })
  session.activeContext.append(Message.create('tool_result', [ContentPart.toolResult('1', 'x')]))
  await session.save()
  const { messages } = (await Session.load('a', session.uuid, { storage })).activeContext
  assert.deepEqual(messages[0].content, parts)
  assert.equal('content' in messages[1], false)
  assert.deepEqual(messages[2].content, [])
})

test('sessions in one storage, and one session loaded twice, are independent', async () => {
  const storage = new MemoryStorage()
  const sessions = Array.from({ length: 20 }, () => Session.create('a', { storage }))
  sessions.forEach((session, index) => session.activeContext.append(text(`I am ${index}`)))
  await Promise.all(sessions.map((session) => session.save()))
  const loaded = await Promise.all(sessions.map(({ uuid }) => Session.load('a', uuid, { storage })))
  loaded.forEach((session, index) => assert.equal(session.activeContext.messages[0].content[0].text, `I am ${index}`))
  const twice = await Session.load('a', loaded[0].uuid, { storage })
  twice.activeContext.append(text('only here'))
  assert.equal(loaded[0].activeContext.messageCount, 1)
  assert.notEqual(twice.activeContext, loaded[0].activeContext)
})

test('a context may be active in two sessions; both save it', async () => {
  const storage = new MemoryStorage()
  const [one, two] = [Session.create('a', { storage }), Session.create('b', { storage })]
  const context = one.activeContext
  two.setActiveContext(context)
  assert.equal(two.activeContext, context)
  await one.save()
  context.append(text('Hi'))
  await one.save()
  await two.save()
  for (const session of [one, two]) {
    const parent = session === one ? 'a' : 'b'
    assert.equal((await Session.load(parent, session.uuid, { storage })).activeContext.messageCount, 1, parent)
  }
})
