// Failures in the middle of a call: the engine's clock, its regular expressions, a file of the package, numbers beyond a
// counter. The call throws a typed error, and later calls work.
import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { run, runModule, tempDir } from '../support/files.mjs'
import { load, packageDir } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { Context, MemoryStorage, Session, ToolDefinitionsMessage } = await load('peteos-session')

test('a clock or a random source that throws is a typed error', async () => {
  const output = await runModule(`
    import { MemoryStorage, Message, Session } from 'peteos-session'
    const storage = new MemoryStorage()
    const session = Session.create('a', { storage })
    const context = session.activeContext
    for (let index = 0; index < 5; index++) context.append({ role: 'user' })
    await session.save()
    const calls = [() => session.rollingSequenceWindow(1), () => context.rollingTokenWindow(1), () => context.fork(), () => context.stripThinking(),
      () => context.append({ role: 'user' }), () => Message.create('user'), () => Session.create('a'), () => { context.rawDict = context.rawDict }]
    const names = new Set()
    const attempt = () => {
      for (const call of calls) {
        try { call(); names.add('nothing') } catch (error) { names.add(error.name) }
      }
    }
    const { Date: RealDate } = globalThis
    globalThis.Date = class { constructor() { throw new Error('no time') } }
    for (let round = 0; round < 200; round++) attempt()
    globalThis.Date = RealDate
    const { getRandomValues } = crypto
    crypto.getRandomValues = () => { throw new Error('no chance') }
    for (let round = 0; round < 200; round++) attempt()
    crypto.getRandomValues = getRandomValues
    const window = session.rollingSequenceWindow(2)
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    console.log(JSON.stringify([[...names], context.messageCount, again.activeContext.messageCount, window === session.activeContext]))
  `)
  assert.deepEqual(JSON.parse(output), [['SessionError'], 5, 2, true])
})

test('a tool name that is too long for a pattern is a typed error', async () => {
  const session = Session.create('a', {
    storage: new MemoryStorage(),
    toolDefinitionsMessage: ToolDefinitionsMessage.create(),
  })
  const tools = session.activeContext.toolDefinitionsMessage
  let name = 'a'.repeat(1e7)
  session.registerHook(tools, 'tool_list', () => JSON.stringify([{ name }]))
  session.registerHook(tools, 'tool_filter', () => '["(a|b)*"]')
  await refused(() => session.materialize(), 'InvalidArgumentError', { argument: 'tool_filter' })
  name = 'ab'
  await session.materialize()
  assert.equal(session.activeContext.toolDefinitionsMessage.content[0].name, 'ab')
  await session.save()
})

test('a vocabulary that was removed is a StorageError', async (t) => {
  const directory = tempDir(t)
  cpSync(join(packageDir, 'dist'), join(directory, 'dist'), { recursive: true })
  rmSync(join(directory, 'dist', 'encodings'), { recursive: true })
  const script = `const { countTokens, StorageError } = require('./dist/index.cjs')
    try { countTokens('x') } catch (error) { console.log(error instanceof StorageError, error.code, error.operation, error.path) }`
  const output = await run(process.execPath, ['-e', script], { cwd: directory })
  assert.equal(output.trim(), 'true ENOENT read encodings/cl100k_base.bin')
})

test('counts in a file that exceed every number are ignored', () => {
  const huge = JSON.parse('{"role":"user","token_count":9007199254740991}')
  const dict = {
    system_prompt_message_id: 's',
    messages: [{ ...huge, id: 's', role: 'system', _type: 'SystemPromptMessage' }],
  }
  for (let index = 0; index < 3000; index++) dict.messages.push({ ...huge, id: `m${index}` })
  const context = Context.fromDict(dict)
  const report = context.planTokenWindow(50)
  assert.deepEqual([report.kept, report.dropped.length], [[], 3000])
  assert.ok(report.tokensBefore >= Number.MAX_SAFE_INTEGER && context.totalTokenCount() === report.tokensBefore)
  // A number beyond the safe integers is not a count.
  const foreign = Context.fromDict({ messages: [{ id: 'x', role: 'user', token_count: 2 ** 63 }] })
  assert.ok(foreign.totalTokenCount() < 10)
  refusedNow(() => context.append({ role: 'user', token_count: 2 ** 53 }), 'InvalidMessageError', {
    field: 'token_count',
  })
})

test('a fork places tools after the system prompt, even if the parent has none', () => {
  const context = Context.fromDict({
    anchor_points: [
      ['system_prompt', 1],
      ['messages', 2],
    ],
    messages: [
      { id: 's', role: 'system', _type: 'SystemPromptMessage' },
      { id: 'm', role: 'user' },
    ],
    system_prompt_message_id: 's',
  })
  const child = context.fork({ toolDefinitionsMessage: ToolDefinitionsMessage.create() })
  assert.deepEqual(
    child.messages.map(({ role }) => role),
    ['system', 'tool', 'user'],
  )
  assert.deepEqual([child.systemPromptMessage?.id, child.toolDefinitionsMessage?.role], ['s', 'tool'])
  assert.deepEqual(child.anchorPoints, [
    ['system_prompt', 1],
    ['tools', 2],
    ['messages', 3],
  ])
})

test('a context from a dict does not replace a file that was never read', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const old = session.activeContext
  old.append(text('one'))
  old.append(text('two'))
  session.rollingSequenceWindow(1)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  const copy = Context.fromDict(old.rawDict)
  copy.append(text('three'))
  again.setActiveContext(copy)
  const { message } = await refused(() => again.save(), 'ConflictError', {
    path: `${session.sessionDir}/${old.id}.json`,
  })
  assert.match(message, /has not read it.*loadContext/)
  const third = await Session.load('a', session.uuid, { storage })
  await third.loadContext(old.id)
  third.setActiveContext(copy)
  await third.save()
  assert.equal((await Session.load('a', session.uuid, { storage })).activeContext.messageCount, 3)
})
