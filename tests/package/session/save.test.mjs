// Saves: what is written, in which order, and concurrent changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { GatedStorage, RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session, SystemPromptMessage } = await load('peteos-session')

function create(storage) {
  return Session.create('a', { storage, systemPromptMessage: SystemPromptMessage.create('s') })
}

const write = (session, context) => `write ${session.sessionDir}/${context === undefined ? 'session' : context.id}.json`

test('save writes the changed context, then session.json, then nothing', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const context = session.activeContext
  assert.equal(await session.save(), undefined)
  assert.deepEqual(storage.takeCalls(), [write(session, context), write(session)])
  await session.save()
  assert.deepEqual(storage.takeCalls(), [])
  context.append(text('Hi'))
  await session.save()
  assert.deepEqual(storage.takeCalls(), [write(session, context), write(session)])
  await session.save()
  assert.deepEqual(storage.takeCalls(), [])
})

test('every kind of change is saved, and reading changes nothing', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const context = session.activeContext
  const { id } = context.append(text('Hi'))
  await session.save()
  storage.takeCalls()
  const contextChanges = [
    () => context.append(text('x')),
    () => context.addAnchor('notes', 0),
    () => context.updateMessage(id, { metadata: { a: 1 } }),
    () => {
      context.rawDict = { ...context.rawDict, custom: 1 }
    },
  ]
  for (const change of contextChanges) {
    change()
    await session.save()
    assert.equal(storage.takeCalls()[0], write(session, context), String(change))
    assert.deepEqual(
      JSON.parse(storage.text(`${session.sessionDir}/${context.id}.json`)),
      JSON.parse(JSON.stringify(context)),
    )
  }
  const sessionChanges = [
    () => {
      session.autoApproveTools = ['x']
    },
    () => {
      session.isActive = true
    },
    () => session.state.create('a', 'b'),
    () => session.state.update('a', 'b', 'c'),
    () => session.state.delete('a'),
    () => {
      session.rawDict = { ...session.rawDict, custom: 1 }
    },
  ]
  for (const change of sessionChanges) {
    change()
    await session.save()
    assert.deepEqual(storage.takeCalls(), [write(session)], String(change))
    assert.deepEqual(
      JSON.parse(storage.text(`${session.sessionDir}/session.json`)),
      JSON.parse(JSON.stringify(session)),
    )
  }
  void [context.messages, context.rawDict, session.rawDict, session.activeContext, context.tokenCounts()]
  context.planTokenWindow(1)
  session.rollingSequenceWindow(99)
  session.setActiveContext(context)
  session.isActive = true
  await session.listContexts()
  storage.takeCalls()
  await session.save()
  assert.deepEqual(storage.takeCalls(), [])
})

test('every context that was active between two saves is written', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const first = session.activeContext
  for (const content of ['1', '2', '3']) first.append(text(content))
  const second = session.rollingSequenceWindow(2)
  second.append(text('4'))
  const third = session.rollingSequenceWindow(1)
  const own = Context.create()
  session.setActiveContext(own)
  await session.save()
  const calls = storage.takeCalls()
  assert.deepEqual(
    [...calls].sort(),
    [first, second, third, own]
      .map((context) => write(session, context))
      .concat(write(session))
      .sort(),
  )
  assert.equal(calls.at(-1), write(session))
  assert.ok(storage.text(`${session.sessionDir}/session.json`).includes(own.id))
  const again = await Session.load('a', session.uuid, { storage })
  for (const context of [first, second, third, own])
    assert.deepEqual((await again.loadContext(context.id)).rawDict, context.rawDict)
})

test('a changed context is written even if the caller dropped it', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const ids = [session.activeContext.id]
  for (let round = 0; round < 5; round++) {
    session.activeContext.append(text(`${round}`))
    session.activeContext.append(text(`${round}`))
    ids.push(session.rollingSequenceWindow(1).id)
  }
  await session.save()
  const names = [...storage.files.keys()].map((path) => path.split('/').at(-1))
  assert.deepEqual(names.sort(), [...ids.map((id) => `${id}.json`), 'session.json'].sort())
})

test('a loaded session that is not changed writes nothing', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  session.activeContext.append(text('1'))
  session.activeContext.append(text('2'))
  session.rollingSequenceWindow(1)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  for (const id of await again.listContexts()) await again.loadContext(id)
  storage.takeCalls()
  await again.save()
  assert.deepEqual(storage.takeCalls(), [])
  again.isActive = true
  await again.save()
  assert.deepEqual(storage.takeCalls(), [write(again)])
})

test('a changed context that is not the active one is saved', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const first = session.activeContext
  first.append(text('1'))
  session.rollingSequenceWindow(0)
  await session.save()
  storage.takeCalls()
  first.append(text('2'))
  await session.save()
  assert.equal(storage.takeCalls()[0], write(session, first))
  assert.equal((await (await Session.load('a', session.uuid, { storage })).loadContext(first.id)).messageCount, 3)
})

test('two saves in flight run one after the other', async () => {
  const storage = new GatedStorage()
  let writing = 0
  const { before } = storage
  storage.before = async function (method, path) {
    if (method === 'write') assert.equal(++writing, 1, 'one write at a time')
    await before.call(this, method, path)
  }
  const { write: realWrite } = storage
  storage.write = async function (path, data) {
    await realWrite.call(this, path, data)
    writing--
  }
  const session = create(storage)
  const context = session.activeContext
  const first = session.save()
  await storage.reached
  context.append(text('between'))
  const second = session.save()
  const third = session.save()
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(storage.calls.length, 1, 'the second waits for the first')
  storage.open()
  await Promise.all([first, second, third])
  const calls = storage.takeCalls()
  assert.deepEqual(calls.slice(0, 3), [write(session, context), write(session), write(session, context)])
  assert.ok(calls.slice(3).every((call) => call === write(session)))
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContext.messageCount, 2)
})

test('many concurrent saves leave the files equal to the session', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const saves = []
  for (let round = 0; round < 50; round++) {
    session.activeContext.append(text(`${round}`))
    saves.push(session.save())
    if (round % 10 === 9) session.rollingSequenceWindow(3)
    if (round % 7 === 0) await saves.at(-1)
  }
  await Promise.all(saves)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict)
  assert.deepEqual(again.rawDict, session.rawDict)
})

test('the session can be used while a save waits for the storage', async () => {
  const storage = new GatedStorage()
  const session = create(storage)
  const first = session.activeContext
  first.append(text('1'))
  const save = session.save()
  await storage.reached
  const stored = first.append(text('2'))
  assert.equal(first.messages.at(-1), stored)
  first.addAnchor('notes', 1)
  first.updateMessage(stored.id, { metadata: { a: 1 } })
  assert.equal(first.totalTokenCount() > 0, true)
  assert.equal(first.planSequenceWindow(1).kept.length, 1)
  session.autoApproveTools = ['x']
  session.isActive = true
  session.state.create('a', 'b')
  session.rawDict = { ...session.rawDict, custom: 1 }
  const window = session.rollingSequenceWindow(1)
  assert.equal(session.activeContext, window)
  const tokens = session.rollingTokenWindow(0)
  assert.equal(session.activeContext, tokens)
  session.setActiveContext(first)
  assert.equal(session.activeContext, first)
  assert.equal(await session.loadContext(window.id), window)
  assert.equal((await session.listContexts()).length, 3)
  await refused(() => session.loadContext('gone'), 'ContextNotFoundError')
  const other = Session.create('b', { storage: new RecordingStorage() })
  await other.save()
  assert.equal((await Session.load('b', other.uuid, { storage: other.storage })).uuid, other.uuid)
  const child = first.fork()
  session.setActiveContext(child)
  const second = session.save()
  storage.open()
  await save
  await second
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.rawDict, session.rawDict)
  for (const context of [first, window, tokens, child]) {
    assert.deepEqual((await again.loadContext(context.id)).rawDict, context.rawDict)
  }
})

test('messages appended during a save are not lost, and the save writes the state at one moment', async () => {
  const storage = new GatedStorage()
  const session = create(storage)
  const context = session.activeContext
  const save = session.save()
  await storage.reached
  context.append(text('during'))
  session.isActive = true
  storage.open()
  await save
  const written = await Session.load('a', session.uuid, { storage })
  assert.equal(written.activeContext.messageCount, 1)
  assert.equal(written.isActive, false)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContext.messageCount, 2)
  assert.equal(again.isActive, true)
})

test('a context that replaces another with its id during a save is saved', async () => {
  for (const appends of [0, 1, 2, 3, 4, 5]) {
    const storage = new GatedStorage()
    const session = create(storage)
    const first = session.activeContext
    first.append(text('old'))
    const save = session.save()
    await storage.reached
    const other = Context.fromDict({ ...first.rawDict, custom: 'new' })
    for (let round = 0; round < appends; round++) other.append(text('new'))
    session.setActiveContext(other)
    storage.open()
    await save
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.activeContext.rawDict, other.rawDict, `${appends} appends`)
  }
})

test('an adapter that calls into the session from its own methods works', async () => {
  const storage = new RecordingStorage()
  const session = create(storage)
  const saves = []
  storage.write = function (path, data) {
    if (saves.length < 3) {
      session.activeContext.append(text(path))
      session.rollingSequenceWindow(1)
      assert.equal(session.activeContext.messageCount, 2)
      saves.push(session.save())
    }
    this.files.set(path, data.slice())
  }
  await session.save()
  await Promise.all(saves)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict)
})
