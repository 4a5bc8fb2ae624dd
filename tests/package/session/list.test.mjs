// Session.list: the order, the sessions left out, and the files read.
import assert from 'node:assert/strict'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const uuids = async (directory, options) => (await Session.list(directory, options)).map(({ uuid }) => uuid)

test('a summary has the fields of session.json', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('agents/helper', { storage })
  session.autoApproveTools = ['read']
  session.isActive = true
  session.activeContext.append(text('x'))
  const before = Date.now()
  await session.save()
  const after = Date.now()
  const [{ modifiedAt, ...summary }, ...others] = await Session.list('agents/helper', { storage })
  assert.deepEqual(others, [])
  assert.deepEqual(summary, {
    uuid: session.uuid,
    sessionDir: session.sessionDir,
    activeContextId: session.activeContextId,
    isActive: true,
    autoApproveTools: ['read'],
  })
  assert.ok(modifiedAt instanceof Date && modifiedAt.getTime() >= before && modifiedAt.getTime() <= after)
  const loaded = await Session.load('agents/helper', summary.uuid, { storage })
  assert.deepEqual(loaded.rawDict, session.rawDict)
})

test('the newest session comes first: by day, then by the last save, then by id', async () => {
  const names = ['20260101-b', '20260103-a', '20260101-a', '20260102-a', 'other', '20260101-c', '2026-x', '99999999']
  const storage = new RecordingStorage(Object.fromEntries(names.map((name) => [`a/${name}/session.json`, '{}'])))
  const byName = ['20260103-a', '20260102-a', '20260101-c', '20260101-b', '20260101-a']
  assert.deepEqual((await uuids('a', { storage })).slice(0, 5), byName)
  const times = { '20260101-a': 3000, '20260101-b': 5000, '20260101-c': 4000, '20260102-a': 1 }
  storage.modifiedTime = async (path) => times[path.split('/')[1]] ?? null
  assert.deepEqual((await uuids('a', { storage })).slice(0, 5), [
    '20260103-a',
    '20260102-a',
    '20260101-b',
    '20260101-c',
    '20260101-a',
  ])
})

test('a session that was saved again comes before one that was saved in between', async () => {
  const storage = new MemoryStorage()
  const [one, two] = [Session.create('a', { storage }), Session.create('a', { storage })]
  const order = async (session) => {
    session.activeContext.append(text('x'))
    await session.save()
    // Waits until the clock advances, however coarse it is.
    const now = Date.now()
    while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1))
    return uuids('a', { storage })
  }
  await order(one)
  assert.deepEqual(await order(two), [two.uuid, one.uuid])
  assert.deepEqual(await order(one), [one.uuid, two.uuid])
  assert.deepEqual(await order(two), [two.uuid, one.uuid])
})

test('it reads no context file', async () => {
  const storage = new RecordingStorage()
  for (let count = 0; count < 40; count++) {
    const session = Session.create('a', { storage })
    session.activeContext.append(text('x'))
    session.rollingSequenceWindow(0)
    await session.save()
  }
  storage.takeCalls()
  assert.equal((await Session.list('a', { storage })).length, 40)
  const calls = storage.takeCalls()
  assert.equal(calls.length, 41)
  assert.equal(calls[0], 'list a')
  assert.ok(calls.slice(1).every((call) => /^read a\/[^/]+\/session\.json$/.test(call)))
})

test('ten thousand sessions are listed from their session.json, with only a few in memory at once', async () => {
  const COUNT = 10_000
  const storage = new RecordingStorage()
  storage.list = () => Array.from({ length: COUNT }, (_, index) => `20260101-${index}`)
  let [open, most] = [0, 0]
  storage.read = async (path) => {
    const [, uuid] = /^a\/([^/]+)\/session\.json$/.exec(path)
    most = Math.max(most, ++open)
    await undefined
    open--
    if (uuid.endsWith('00')) return new TextEncoder().encode('{')
    return new TextEncoder().encode(JSON.stringify({ uuid, state_data: { large: 'x'.repeat(10_000) } }))
  }
  const errors = []
  const before = process.memoryUsage.rss()
  const summaries = await Session.list('a', { storage, onError: (error) => errors.push(error) })
  assert.equal(summaries.length, COUNT - 99)
  assert.equal(errors.length, 99)
  assert.ok(errors.every(({ name, path }) => name === 'CorruptSessionError' && path.endsWith('00/session.json')))
  assert.ok(most <= 64, `${most} at once`)
  // The files have 100 MB.
  const megabytes = (process.memoryUsage.rss() - before) / 1e6
  assert.ok(megabytes < 90, `${megabytes} MB`)
})

test('several files are open at once, but not all', async () => {
  const storage = new RecordingStorage()
  for (let count = 0; count < 300; count++) storage.put(`a/20260101-${count}/session.json`, '{}')
  let [open, most] = [0, 0]
  storage.before = async (method) => {
    if (method !== 'read') return
    most = Math.max(most, ++open)
    await new Promise((resolve) => setImmediate(resolve))
    open--
  }
  assert.equal((await Session.list('a', { storage })).length, 300)
  assert.ok(most > 1 && most <= 64, `${most} at once`)
})

test('other entries in the directory are ignored', async (t) => {
  const directory = tempDir(t)
  const good = Session.create(directory)
  await good.save()
  mkdirSync(join(directory, 'empty'))
  mkdirSync(join(directory, '.git'))
  mkdirSync(join(directory, 'dir', 'session.json'), { recursive: true })
  writeFileSync(join(directory, 'session.json'), '{"uuid": "x"}')
  writeFileSync(join(directory, 'notes.txt'), 'x')
  writeFileSync(join(directory, '20260101-file'), 'x')
  const errors = []
  assert.deepEqual(await uuids(directory, { onError: (error) => errors.push(error) }), [good.uuid])
  assert.deepEqual(
    errors.map(({ name, code, path }) => [name, code, path]),
    [['StorageError', 'EISDIR', `${directory}/dir/session.json`]],
  )
})

test('names that lead elsewhere are not followed', async () => {
  const storage = new RecordingStorage()
  storage.list = async () => ['..', '.', '', '../x', 'a/b', 'a\\b', 'a\0b', '/etc']
  assert.deepEqual(await Session.list('a', { storage }), [])
  assert.deepEqual(storage.calls, [])
})

test('sessions that cannot be read are left out and reported', async () => {
  const broken = {
    empty: '',
    torn: '{"uuid": "to',
    list: '[]',
    shape: '{"is_active": 5}',
    other: '{"uuid": "elsewhere"}',
    evil: '{"active_context_id": "../x"}',
  }
  const storage = new RecordingStorage({ 'a/good/session.json': '{}' })
  for (const [name, content] of Object.entries(broken)) storage.put(`a/${name}/session.json`, content)
  storage.put('a/failing/session.json', '{}')
  storage.before = async (_method, path) => {
    if (path === 'a/failing/session.json') throw Object.assign(new Error('no'), { code: 'EACCES' })
  }
  const errors = []
  assert.deepEqual(await uuids('a', { storage, onError: (error) => errors.push(error) }), ['good'])
  assert.deepEqual(Object.fromEntries(errors.map(({ path, name }) => [path.split('/')[1], name])), {
    ...Object.fromEntries(Object.keys(broken).map((name) => [name, 'CorruptSessionError'])),
    failing: 'StorageError',
  })
  assert.ok(errors.every((error) => error.path === `a/${error.path.split('/')[1]}/session.json`))
  assert.equal(errors.find((error) => error.name === 'StorageError').code, 'EACCES')
  assert.deepEqual(await uuids('a', { storage }), ['good'], 'without onError as well')
})

test('the error of an onError that throws reaches the caller', async () => {
  const storage = new RecordingStorage({ 'a/x/session.json': '', 'a/y/session.json': '{}' })
  const mine = new Error('mine')
  await assert.rejects(
    Session.list('a', {
      storage,
      onError: () => {
        throw mine
      },
    }),
    (error) => error === mine,
  )
  assert.deepEqual(await uuids('a', { storage }), ['y'])
})

test('an absent directory has no sessions; one that cannot be listed is an error', async (t) => {
  const directory = tempDir(t)
  assert.deepEqual(await Session.list(join(directory, 'none')), [])
  writeFileSync(join(directory, 'file'), '')
  assert.deepEqual(await Session.list(join(directory, 'file')), [])
  const storage = new RecordingStorage()
  storage.list = async () => {
    throw Object.assign(new Error('no'), { code: 'EACCES' })
  }
  await refused(() => Session.list('a', { storage }), 'StorageError', { code: 'EACCES', path: 'a', operation: 'list' })
})

test('the parent directory may be written in several ways', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  for (const parent of [directory, `${directory}/`, `${directory}//`]) {
    const [summary] = await Session.list(parent)
    assert.equal(summary.sessionDir, session.sessionDir)
  }
  const memory = new MemoryStorage()
  const other = Session.create('', { storage: memory })
  await other.save()
  assert.equal(other.sessionDir, other.uuid)
  assert.deepEqual(await uuids('', { storage: memory }), [other.uuid])
  assert.ok(await Session.load('', other.uuid, { storage: memory }))
})

test('on the file system the time is that of session.json', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  utimesSync(join(session.sessionDir, 'session.json'), 1000, 1000)
  assert.equal((await Session.list(directory))[0].modifiedAt.getTime(), 1_000_000)
})
