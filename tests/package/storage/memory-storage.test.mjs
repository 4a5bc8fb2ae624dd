// MemoryStorage.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const bytes = (content) => new TextEncoder().encode(content)
const content = (data) => data && new TextDecoder().decode(data)

test('files can be written, read, listed and removed', async () => {
  const storage = new MemoryStorage()
  assert.equal(await storage.read('a/b/c'), null)
  assert.deepEqual(await storage.list('a'), [])
  await storage.remove('a/b/c')
  await storage.write('a/b/c', bytes('one'))
  await storage.write('a/b/d', bytes(''))
  await storage.write('a/e', bytes('x'))
  await storage.write('ab/f', bytes('x'))
  assert.equal(content(await storage.read('a/b/c')), 'one')
  assert.equal((await storage.read('a/b/d')).length, 0)
  assert.deepEqual((await storage.list('a')).sort(), ['b', 'e'])
  assert.deepEqual((await storage.list('a/')).sort(), ['b', 'e'])
  assert.deepEqual((await storage.list('a/b')).sort(), ['c', 'd'])
  assert.deepEqual((await storage.list('')).sort(), ['a', 'ab'])
  assert.deepEqual((await storage.list('.')).sort(), ['a', 'ab'])
  assert.deepEqual(await storage.list('b'), [])
  await storage.write('a/b/c', bytes('two'))
  assert.equal(content(await storage.read('a/b/c')), 'two')
  await storage.remove('a/b/c')
  await storage.remove('a/b/c')
  assert.equal(await storage.read('a/b/c'), null)
  assert.deepEqual(await storage.list('a/b'), ['d'])
})

test('files are copies of the arrays that are written and read', async () => {
  const storage = new MemoryStorage()
  const data = bytes('one')
  await storage.write('x', data)
  data.fill(0)
  const first = await storage.read('x')
  assert.equal(content(first), 'one')
  first.fill(0)
  assert.equal(content(await storage.read('x')), 'one')
})

test('modifiedTime is the time of the last write', async () => {
  const storage = new MemoryStorage()
  assert.equal(await storage.modifiedTime('x'), null)
  const before = Date.now()
  await storage.write('x', bytes(''))
  const time = await storage.modifiedTime('x')
  assert.ok(time >= before && time <= Date.now())
})

test('a file may have any name', async () => {
  const storage = new MemoryStorage()
  for (const name of ['__proto__', 'constructor', 'é 日本', '..', 'a b']) {
    await storage.write(`d/${name}`, bytes(name))
    assert.equal(content(await storage.read(`d/${name}`)), name)
  }
  assert.equal((await storage.list('d')).length, 5)
  assert.equal({}.polluted, undefined)
})

test('two storages share nothing', async () => {
  const [one, two] = [new MemoryStorage(), new MemoryStorage()]
  const session = Session.create('a', { storage: one })
  await session.save()
  assert.deepEqual(await Session.list('a', { storage: two }), [])
  await assert.rejects(Session.load('a', session.uuid, { storage: two }), { name: 'SessionNotFoundError' })
})

test('files that a user picked open as a session', async () => {
  const storage = new MemoryStorage()
  const source = Session.create('a', { storage: new MemoryStorage() })
  source.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  for (const [name, dict] of [
    ['session', source],
    [source.activeContextId, source.activeContext],
  ]) {
    await storage.write(`picked/${source.uuid}/${name}.json`, bytes(JSON.stringify(dict)))
  }
  const [{ uuid }] = await Session.list('picked', { storage })
  assert.deepEqual(
    (await Session.load('picked', uuid, { storage })).activeContext.rawDict,
    source.activeContext.rawDict,
  )
})
