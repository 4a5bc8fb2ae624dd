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
