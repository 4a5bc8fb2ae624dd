// Saves at the end of an agent: saveSync, and the end of an `await using` block.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { FailingStorage, RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const texts = (session) => session.activeContext.messages.map(({ content }) => content[0].text)
const names = (directory) =>
  readdirSync(directory)
    .filter((name) => name !== '.lock')
    .sort()

test('saveSync writes the same as save, and the next save writes nothing', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  session.activeContext.append(text('one'))
  assert.equal(session.saveSync(), undefined)
  assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['one'])
  session.activeContext.append(text('two'))
  session.saveSync()
  await session.save()
  assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['one', 'two'])
  assert.deepEqual(names(session.sessionDir), [`${session.activeContextId}.json`, 'session.json'].sort(), 'no litter')
})

test('saveSync overtakes a save in progress: the newer state comes last, whenever it is called', async (t) => {
  const directory = tempDir(t)
  for (let round = 0; round < 60; round++) {
    const session = Session.create(directory)
    session.activeContext.append(text('old'))
    const saving = session.save()
    for (let turn = 0; turn < round; turn++) await (turn % 3 === 0 ? new Promise(setImmediate) : undefined)
    session.activeContext.append(text('new'))
    session.saveSync()
    await saving
    assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['old', 'new'])
    session.activeContext.append(text('newest'))
    await session.save()
    const loaded = await Session.load(directory, session.uuid)
    assert.deepEqual(texts(loaded), ['old', 'new', 'newest'])
    assert.equal(readdirSync(session.sessionDir).filter((name) => name.endsWith('.tmp')).length, 0)
  }
})

test('an agent that exits during a save has everything on disk', async (t) => {
  const directory = tempDir(t)
  const script = `
    import { Session } from 'peteos-session'
    const session = Session.create(${JSON.stringify(directory)})
    process.on('exit', () => session.saveSync())
    for (let index = 0; index < 50; index++) session.activeContext.append({ role: 'user', content: [{ type: 'text', text: String(index) }] })
    void session.save()
    console.log(session.uuid)
    setTimeout(() => { session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'last' }] }); process.exit() }, Number(process.env.DELAY))
  `
  for (const delay of [0, 1, 2, 5, 10, 30]) {
    const uuid = await runModule(script, { env: { DELAY: String(delay) } })
    const loaded = texts(await Session.load(directory, uuid.trim()))
    assert.equal(loaded.length, 51)
    assert.equal(loaded.at(-1), 'last')
  }
})

test('a save that is overtaken by a failing one continues, and does not resolve early', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save()
  const write = storage.writeSync.bind(storage)
  let reached
  const waiting = new Promise((resolve) => (reached = resolve))
  let open
  const gate = new Promise((resolve) => (open = resolve))
  // An adapter whose write takes effect late, whatever was written in the meantime.
  storage.write = async (path, data) => {
    reached()
    await gate
    write(path, data)
  }
  session.activeContext.append(text('old'))
  const saving = session.save()
  await waiting
  session.activeContext.append(text('new'))
  session.saveSync()
  session.activeContext.append(text('newest'))
  let writes = 0
  storage.writeSync = (path, data) => {
    if (writes++ > 0) throw new Error('full')
    write(path, data)
  }
  refusedNow(() => session.saveSync(), 'StorageError')
  open()
  await saving
  assert.deepEqual(texts(await Session.load('a', session.uuid, { storage })), ['old', 'new', 'newest'])
})

test('saveSync over a file that another writer has changed is refused, and nothing is written', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  session.saveSync()
  const other = await Session.load('a', session.uuid, { storage })
  other.activeContext.append(text('theirs'))
  await other.save()
  session.activeContext.append(text('ours'))
  refusedNow(() => session.saveSync(), 'ConflictError', { path: `a/${session.uuid}/${session.activeContextId}.json` })
  assert.deepEqual(texts(await Session.load('a', session.uuid, { storage })), ['theirs'])
})

test('a storage that cannot write synchronously, or fails to, is a clear error, and the session still works', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  refusedNow(() => session.saveSync(), 'StorageError', { operation: 'write', message: /writeSync/ })
  assert.equal(storage.files.size, 0)
  storage.writeSync = () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  refusedNow(() => session.saveSync(), 'StorageError', { code: 'ENOSPC', operation: 'write' })
  storage.writeSync = async () => undefined
  refusedNow(() => session.saveSync(), 'StorageError', { operation: 'write' })
  storage.writeSync = (path, data) => storage.put(path, data)
  session.saveSync()
  assert.equal((await Session.load('a', session.uuid, { storage })).uuid, session.uuid)
})

test('the end of an `await using` block saves and frees; a session that cannot be saved is not freed', async () => {
  assert.equal(Object.getOwnPropertyDescriptor(Session.prototype, Symbol.asyncDispose).enumerable, false)
  const storage = new FailingStorage()
  const session = Session.create('a', { storage })
  session.activeContext.append(text('x'))
  storage.failAt = 1
  await refused(() => session[Symbol.asyncDispose](), 'StorageError')
  assert.equal(session.activeContext.messageCount, 1)
  const { uuid } = session
  await session[Symbol.asyncDispose]()
  refusedNow(() => session.uuid, 'DisposedError')
  await session[Symbol.asyncDispose]()
  assert.deepEqual(texts(await Session.load('a', uuid, { storage })), ['x'])
})
