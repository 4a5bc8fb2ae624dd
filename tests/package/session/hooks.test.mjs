// Hooks: message contents that functions return.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { NO_STRINGS, nestedText, shown, text } from '../support/values.mjs'

const { Context, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

const sha256 = (content) => createHash('sha256').update(content).digest('hex')
const tool = (name) => ({ name, description: `Does ${name}`, parameters: { type: 'object' } })

function example(staticText = 'Fixed.') {
  const storage = new RecordingStorage()
  const session = Session.create('a', {
    storage,
    systemPromptMessage: SystemPromptMessage.create(staticText),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([]),
  })
  const context = session.activeContext
  return {
    storage,
    session,
    context,
    prompt: () => context.systemPromptMessage.content?.[0].text,
    tools: () => context.toolDefinitionsMessage.content,
  }
}

test('the id of a hook is the SHA-256 of its name, listed once', () => {
  const { session, context } = example()
  const system = context.systemPromptMessage
  assert.equal(
    session.registerHook(system, 'mood', () => 'x'),
    sha256('mood'),
  )
  assert.equal(
    session.registerHook(context.systemPromptMessage, 'größe 日本', () => 'x'),
    sha256('größe 日本'),
  )
  session.registerHook(system, 'mood', () => 'y')
  assert.deepEqual(context.systemPromptMessage._hook_ids, [sha256('mood'), sha256('größe 日本')])
  assert.deepEqual(system._hook_ids, [], 'an old snapshot is unchanged')
})

test('a system prompt becomes its static text and the texts of its hooks', async () => {
  const { session, context, prompt } = example()
  session.registerHook(context.systemPromptMessage, 'one', () => 'Now: 12:00.')
  session.registerHook(context.systemPromptMessage, 'two', async () => 'Größe.')
  assert.equal(await session.materialize(), undefined)
  assert.equal(prompt(), 'Fixed.\n\nNow: 12:00.\n\nGröße.')
  assert.deepEqual(context.contentMap, { [sha256('Now: 12:00.')]: 'Now: 12:00.', [sha256('Größe.')]: 'Größe.' })
  session.registerHook(context.systemPromptMessage, 'one', () => 'Now: 13:00.')
  await session.materialize()
  assert.equal(prompt(), 'Fixed.\n\nNow: 13:00.\n\nGröße.')
  const bare = example('')
  bare.session.registerHook(bare.context.systemPromptMessage, 'one', () => 'Alone.')
  await bare.session.materialize()
  assert.equal(bare.prompt(), 'Alone.')
})

test('tool definitions are listed by one hook and filtered by another', async () => {
  const { session, context, tools } = example()
  const message = context.toolDefinitionsMessage
  let list = [tool('read_file'), tool('write_file'), { name: 'grep' }]
  session.registerHook(message, 'tool_list', () => JSON.stringify(list))
  await session.materialize()
  assert.deepEqual(tools(), [
    { type: 'tool', ...tool('read_file') },
    { type: 'tool', ...tool('write_file') },
    { type: 'tool', name: 'grep', description: '', parameters: {} },
  ])
  let filter = ['.*_file', 'nothing']
  session.registerHook(message, 'tool_filter', () => JSON.stringify(filter))
  const names = async () => {
    await session.materialize()
    return tools().map(({ name }) => name)
  }
  assert.deepEqual(await names(), ['read_file', 'write_file'])
  filter = ['read']
  assert.deepEqual(await names(), [], 'the whole name must match')
  filter = ['read_file|grep']
  assert.deepEqual(await names(), ['read_file', 'grep'])
  filter = []
  assert.deepEqual(await names(), ['read_file', 'write_file', 'grep'])
  list = []
  assert.deepEqual(await names(), [])
})

test('a hook that fails or returns the wrong type changes nothing', async () => {
  const { session, context } = example()
  session.registerHook(context.systemPromptMessage, 'good', () => 'good')
  session.registerHook(context.toolDefinitionsMessage, 'tool_list', () => '[]')
  await session.materialize()
  const before = context.rawDict
  const mine = new Error('mine')
  for (const fail of [
    () => {
      throw mine
    },
    async () => {
      throw mine
    },
  ]) {
    session.registerHook(context.systemPromptMessage, 'good', fail)
    await assert.rejects(session.materialize(), (error) => error === mine)
  }
  for (const value of [...NO_STRINGS, undefined, Promise.resolve(5)]) {
    session.registerHook(context.systemPromptMessage, 'good', () => value)
    await refused(() => session.materialize(), 'InvalidArgumentError', { message: /good.*string/ }, shown(value))
  }
  session.registerHook(context.systemPromptMessage, 'good', () => 'changed')
  for (const list of ['', 'no JSON', '{}', 'null', '[5]', '[null]', '"x"']) {
    session.registerHook(context.toolDefinitionsMessage, 'tool_list', () => list)
    await refused(() => session.materialize(), 'InvalidArgumentError', { argument: 'tool_list' }, list)
  }
  session.registerHook(context.toolDefinitionsMessage, 'tool_list', () => JSON.stringify([tool('a')]))
  const expected = { ...before.messages[1], _hook_ids: [sha256('tool_list'), sha256('tool_filter')] }
  for (const filter of ['no JSON', '{}', '[5]', '["("]', '["[z-a]"]']) {
    session.registerHook(context.toolDefinitionsMessage, 'tool_filter', () => filter)
    await refused(() => session.materialize(), 'InvalidArgumentError', { argument: 'tool_filter' }, filter)
  }
  assert.deepEqual(context.messages, [before.messages[0], expected])
  assert.deepEqual(context.contentMap, before.content_map)
})

test('the deepest list of tools that a hook may return loads again, and a deeper one is refused', async () => {
  for (let depth = 985; depth <= 1000; depth++) {
    const { session, context, storage } = example()
    session.registerHook(
      context.toolDefinitionsMessage,
      'tool_list',
      () => `[{"name": "a", "parameters": ${nestedText(depth)}}]`,
    )
    if (depth <= 995) await session.materialize()
    else {
      const expected = { argument: 'tool_list', message: /deep/ }
      await refused(() => session.materialize(), 'InvalidArgumentError', expected, `depth ${depth}`)
    }
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(context))
  }
})

test('registerHook refuses a message that the active context does not have, and a hook that is not a function', () => {
  const { session, context } = example()
  const before = context.rawDict
  const other = Context.create().append(text('x'))
  for (const message of [other, { id: 'none' }, {}, null, undefined, 5, 'x', [], { id: 5 }]) {
    refusedNow(
      () => session.registerHook(message, 'n', () => 'x'),
      'InvalidArgumentError',
      { argument: /^message/ },
      shown(message),
    )
  }
  for (const name of [...NO_STRINGS, undefined]) {
    refusedNow(
      () => session.registerHook(context.systemPromptMessage, name, () => 'x'),
      'InvalidArgumentError',
      { argument: 'name' },
      shown(name),
    )
  }
  for (const callback of ['x', 5, null, undefined, {}, Promise.resolve('x')]) {
    refusedNow(
      () => session.registerHook(context.systemPromptMessage, 'n', callback),
      'InvalidArgumentError',
      { argument: 'callback' },
      shown(callback),
    )
  }
  assert.equal(context.rawDict, before)
})

test('materialized content is saved, and hooks can be registered again after a load', async () => {
  const { session, context, storage, prompt } = example()
  session.registerHook(context.systemPromptMessage, 'mood', () => 'Be kind.')
  await session.materialize()
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContext.systemPromptMessage.content[0].text, prompt())
  await again.materialize()
  again.registerHook(again.activeContext.systemPromptMessage, 'mood', () => 'Be brief.')
  await again.materialize()
  assert.equal(again.activeContext.systemPromptMessage.content[0].text, 'Fixed.\n\nBe brief.')
  assert.deepEqual(again.activeContext.systemPromptMessage._hook_ids, [sha256('mood')])
})

test('a hook that returns the same text changes nothing, so nothing is written', async () => {
  const { session, context, storage } = example()
  session.registerHook(context.systemPromptMessage, 'mood', () => 'Be kind.')
  await session.materialize()
  await session.save()
  const before = context.rawDict
  storage.takeCalls()
  await session.materialize()
  await session.save()
  assert.deepEqual(storage.takeCalls(), [])
  assert.equal(context.rawDict, before)
})

test('hooks stay with a window and a fork, and the tokens follow', async () => {
  const { session, context } = example()
  session.registerHook(context.systemPromptMessage, 'mood', () => 'Be kind.')
  context.append(text('1'))
  context.append(text('2'))
  const window = session.rollingSequenceWindow(1)
  await session.materialize()
  assert.equal(window.systemPromptMessage.content[0].text, 'Fixed.\n\nBe kind.')
  assert.equal(context.systemPromptMessage.content[0].text, 'Fixed.')
  assert.ok(window.tokenCounts()[0] > context.tokenCounts()[0])
})

test('a hook that calls into the session works', async () => {
  const { session, context } = example()
  session.registerHook(context.systemPromptMessage, 'busy', async () => {
    context.append(text('from the hook'))
    await session.save()
    session.registerHook(context.systemPromptMessage, 'later', () => 'later')
    session.rollingSequenceWindow(0)
    session.setActiveContext(context)
    return String(context.messageCount)
  })
  await session.materialize()
  assert.equal(context.systemPromptMessage.content[0].text.split('\n\n')[1], '3')
  await session.materialize()
  assert.ok(context.systemPromptMessage.content[0].text.endsWith('later'))
})
