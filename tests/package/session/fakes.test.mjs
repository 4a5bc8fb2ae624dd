// Timers and microtasks that a test framework has replaced, and bytes of another realm.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { runModule, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const SAVE = `
  const { Session } = await import('peteos-session')
  const session = Session.create(DIRECTORY)
  session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  await session.save({ timeout: 20_000 })
  const again = await Session.load(DIRECTORY, session.uuid)
  await Session.update(DIRECTORY, session.uuid, (each) => { each.isActive = true })
  console.log(again.activeContext.messageCount)
`
const FAKE = `
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) globalThis[name] = () => 1
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) globalThis[name] = () => undefined
`

test('a session is saved, loaded and updated while timers and microtasks are fake, if they are so before or after the import', async (t) => {
  for (const source of [`await import('peteos-session')\n${FAKE}\n${SAVE}`, `${FAKE}\n${SAVE}`]) {
    const output = await runModule(source.replaceAll('DIRECTORY', JSON.stringify(tempDir(t))))
    assert.equal(output, '1\n')
  }
})

test('a save with MemoryStorage settles while the timers of node:test are mocked', async (t) => {
  t.mock.timers.enable()
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save({ timeout: 20_000 })
  assert.equal((await Session.list('a', { storage })).length, 1)
})

test('an adapter may return bytes and arrays of another realm', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  session.activeContext.append(text('Hi'))
  await session.save()
  const foreign = runInNewContext('({ bytes: (list) => new Uint8Array(list), names: (list) => Array.from(list) })')
  const read = storage.read.bind(storage)
  const list = storage.list.bind(storage)
  storage.read = async (path) => {
    const data = await read(path)
    const bytes = data === null ? null : foreign.bytes([...data])
    assert.ok(!(bytes instanceof Uint8Array))
    return bytes
  }
  storage.list = async (directory) => foreign.names(await list(directory))
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContext.messageCount, 1)
  assert.deepEqual(await again.listContexts(), [session.activeContextId])
  assert.equal((await Session.check('a', session.uuid, { storage })).ok, true)
})
