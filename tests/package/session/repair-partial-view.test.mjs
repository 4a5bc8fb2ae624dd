// Repairs with an incomplete view of the storage: reads that fail or end early, a stale listing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

/** A session with a context and a newer one. Its `session.json` is empty if `isDamaged`. */
async function damaged(isDamaged = true) {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const parent = session.activeContext
  for (const content of ['old 1', 'old 2']) parent.append(text(content))
  await session.save()
  session.rollingSequenceWindow(1)
  session.activeContext.append(text('new'))
  await session.save()
  if (isDamaged) await storage.write(`${session.sessionDir}/session.json`, new Uint8Array())
  return { storage, session, parent, newest: `${session.sessionDir}/${session.activeContextId}.json` }
}

async function filesOf(storage, session) {
  const names = await storage.list(session.sessionDir)
  return Promise.all(names.map(async (name) => [name, await storage.read(`${session.sessionDir}/${name}`)]))
}

const views = {
  'a read fails': async () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  },
  'a file that is listed reads as absent': async () => null,
}

for (const [name, answer] of Object.entries(views)) {
  test(`a repair decides nothing while ${name}`, async () => {
    const { storage, session, newest } = await damaged()
    const before = await filesOf(storage, session)
    const read = storage.read
    storage.read = async (path) => (path === newest ? answer() : read.call(storage, path))
    await refused(() => Session.repair('a', session.uuid, { storage }), 'StorageError', {
      operation: 'read',
      path: newest,
    })
    storage.read = read
    assert.deepEqual(await filesOf(storage, session), before, 'nothing is written')
    await Session.repair('a', session.uuid, { storage })
    assert.equal((await Session.load('a', session.uuid, { storage })).activeContextId, session.activeContextId)
  })
}

test('a short read does not truncate a file', async () => {
  const { storage, session, newest } = await damaged(false)
  const before = await filesOf(storage, session)
  const read = storage.read
  storage.read = async (path) => {
    const bytes = await read.call(storage, path)
    return path === newest ? bytes.subarray(0, bytes.length * 0.6) : bytes
  }
  await refused(() => Session.repair('a', session.uuid, { storage }), 'StorageError', {
    path: newest,
    message: /digest/,
  })
  storage.read = read
  assert.deepEqual(await filesOf(storage, session), before)
})

test('a stale listing removes no child and changes no active context', async () => {
  const { storage, session, parent, newest } = await damaged(false)
  const before = await filesOf(storage, session)
  const list = storage.list
  storage.list = async (directory) => (await list.call(storage, directory)).filter((name) => !newest.endsWith(name))
  assert.deepEqual((await Session.repair('a', session.uuid, { storage })).actions, [])
  assert.equal((await Session.check('a', session.uuid, { storage })).ok, true)
  assert.deepEqual(await filesOf({ list: list.bind(storage), read: (path) => storage.read(path) }, session), before)
  storage.list = list
  await storage.remove(newest)
  const { actions } = await Session.repair('a', session.uuid, { storage })
  assert.ok(
    actions.some(({ rule }) => rule === 'dangling-child'),
    'the absence of a file is confirmed by a read',
  )
  assert.equal((await Session.load('a', session.uuid, { storage })).activeContextId, parent.id)
})
