// Session.repair with dryRun: the result of a repair, and nothing is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

/** Without the names of copies, which have a time. */
const withoutCopies = ({ actions, check }) => ({
  actions: actions.map(({ copy, ...action }) => ({ ...action, hasCopy: copy !== undefined })),
  findings: check.findings.map(({ rule, path }) => (rule === 'kept-copy' ? rule : `${rule} ${path}`)),
  ok: check.ok,
})

test('a dry run has the result of the repair and writes nothing', async (t) => {
  for (const storage of [new MemoryStorage(), new RecordingStorage(), undefined]) {
    const parentDir = storage === undefined ? tempDir(t) : 'a'
    const session = Session.create(parentDir, { storage })
    for (const content of ['1', '2', '3']) session.activeContext.append(text(content))
    session.rollingSequenceWindow(2)
    await session.save()
    const { read, write, list } = session.storage
    const path = (name) => `${session.sessionDir}/${name}`
    const files = async () => {
      const names = (await list.call(session.storage, session.sessionDir)).sort()
      return Promise.all(names.map(async (name) => [name, await read.call(session.storage, path(name))]))
    }
    const context = path(`${session.activeContextId}.json`)
    const whole = await session.storage.read(context)
    await write.call(session.storage, context, whole.slice(0, whole.length - 40))
    await write.call(session.storage, path('session.json'), new Uint8Array())
    await write.call(session.storage, path('.x.json.1.2.tmp'), new TextEncoder().encode('{"a":1}'))
    const before = await files()
    const planned = await Session.repair(parentDir, session.uuid, { storage, dryRun: true })
    assert.deepEqual(await files(), before)
    assert.equal(planned.actions.length, 3)
    const done = await Session.repair(parentDir, session.uuid, { storage, dryRun: false })
    assert.deepEqual(withoutCopies(planned), withoutCopies(done))
    assert.deepEqual((await Session.repair(parentDir, session.uuid, { storage, dryRun: true })).actions, [])
  }
})

test('a dry run takes no lock, and another value of the option is refused', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save()
  const dryRun = () => Session.repair('a', session.uuid, { storage, dryRun: true })
  assert.equal((await storage.lock(session.sessionDir, dryRun)).check.ok, true)
  await refused(() => Session.repair('a', session.uuid, { storage, dryRun: 1 }), 'InvalidArgumentError', {
    argument: 'options.dryRun',
  })
})

test('of each file the newest copies are kept', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save()
  const path = `${session.sessionDir}/session.json`
  const copies = async () => (await storage.list(session.sessionDir)).filter((name) => name.endsWith('.bak'))
  const made = []
  const repair = async (options) => {
    const dict = JSON.parse(new TextDecoder().decode(await storage.read(path)))
    await storage.write(path, new TextEncoder().encode(JSON.stringify({ ...dict, uuid: `other ${made.length}` })))
    const { actions } = await Session.repair('a', session.uuid, { storage, ...options })
    made.push(actions[0].copy.slice(session.sessionDir.length + 1))
    return copies()
  }
  for (let count = 1; count <= 5; count++) assert.equal((await repair()).length, Math.min(count, 3))
  assert.deepEqual((await copies()).sort(), made.slice(-3).sort())
  assert.equal((await repair({ keepCopies: 5 })).length, 4)
  assert.deepEqual(await repair({ keepCopies: 1 }), made.slice(-1))
  for (const keepCopies of [0, 1.5, '2'])
    await refused(() => repair({ keepCopies }), 'InvalidArgumentError', { argument: 'options.keepCopies' })
})
