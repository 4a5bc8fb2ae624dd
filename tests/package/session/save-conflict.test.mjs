// save({ onConflict: 'fork' }): concurrent changes of two writers are both kept.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { run, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll, list, sometimes } from '../support/property.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const texts = (context) => context.messages.map(({ content }) => content[0].text)

/** Two objects of one session in one storage. */
async function twice() {
  const storage = new MemoryStorage()
  const ours = Session.create('a', { storage })
  ours.activeContext.append(text('common'))
  await ours.save()
  return { storage, ours, theirs: await Session.load('a', ours.uuid, { storage }) }
}

test('a context that both changed becomes two', async () => {
  const { storage, ours, theirs } = await twice()
  const origin = ours.activeContextId
  const path = `a/${ours.uuid}/${origin}.json`
  const original = await storage.read(path)
  theirs.activeContext.append(text('theirs'))
  await theirs.save()
  ours.activeContext.append(text('ours'))
  const context = ours.activeContext
  const before = createHash('sha256').update(original).digest('hex')
  const now = createHash('sha256')
    .update(await storage.read(path))
    .digest('hex')
  await refused(() => ours.save(), 'ConflictError', {
    path,
    expected: before,
    found: now,
    message: new RegExp(before.slice(0, 8)),
  })
  await refused(() => ours.save({ onConflict: 'refuse' }), 'ConflictError')
  const forks = await ours.save({ onConflict: 'fork' })
  assert.deepEqual(forks, [{ originContextId: origin, contextId: context.id }])
  assert.notEqual(context.id, origin)
  assert.equal(ours.activeContext, context, 'the object stays the same')
  assert.equal(ours.activeContextId, context.id)
  assert.equal(context.originContextId, origin)
  assert.deepEqual(texts(context), ['common', 'ours'])

  const again = await Session.load('a', ours.uuid, { storage })
  assert.deepEqual(texts(again.activeContext), ['common', 'ours'])
  assert.deepEqual(texts(await again.loadContext(origin)), ['common', 'theirs'])
  assert.deepEqual((await again.listContexts()).sort(), [origin, context.id].sort())
  assert.equal(await ours.loadContext(context.id), context)
  assert.deepEqual(texts(await ours.loadContext(origin)), ['common', 'theirs'])

  context.append(text('more'))
  assert.deepEqual(await ours.save({ onConflict: 'fork' }), [], 'the same writer again is no conflict')
  assert.equal(await ours.save(), undefined)
})

test('a change that only one of them made is merged', async () => {
  const { storage, ours, theirs } = await twice()
  theirs.state.create('plan', 'theirs')
  theirs.autoApproveTools = ['read']
  await theirs.save()
  ours.state.create('note', 'ours')
  ours.isActive = true
  assert.deepEqual(await ours.save({ onConflict: 'fork' }), [])
  const again = await Session.load('a', ours.uuid, { storage })
  assert.deepEqual(again.state.list().sort(), ['note', 'plan'])
  assert.equal(again.state.get('plan'), 'theirs')
  assert.deepEqual(again.autoApproveTools, ['read'])
  assert.equal(again.isActive, true)
  assert.equal(ours.state.get('plan'), 'theirs')
})

test('a variable that both changed in different ways is a conflict, and nothing is written or forked', async () => {
  const { storage, ours, theirs } = await twice()
  theirs.state.create('plan', 'theirs')
  theirs.activeContext.append(text('theirs'))
  await theirs.save()
  ours.state.create('plan', 'ours')
  ours.activeContext.append(text('ours'))
  const id = ours.activeContextId
  await refused(() => ours.save({ onConflict: 'fork' }), 'ConflictError', { variable: 'plan' })
  assert.equal(ours.activeContextId, id)
  assert.deepEqual(await theirs.listContexts(), [id])
  assert.deepEqual(texts((await Session.load('a', ours.uuid, { storage })).activeContext), ['common', 'theirs'])
  ours.state.update('plan', 'ours', 'theirs')
  assert.equal((await ours.save({ onConflict: 'fork' })).length, 1)
})

test('the save that succeeds returns the forks', async () => {
  const { storage, ours, theirs } = await twice()
  theirs.activeContext.append(text('theirs'))
  await theirs.save()
  ours.activeContext.append(text('ours'))
  const write = storage.write
  storage.write = async () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  await refused(() => ours.save({ onConflict: 'fork' }), 'StorageError', { code: 'ENOSPC' })
  storage.write = write
  assert.equal((await ours.save({ onConflict: 'fork' })).length, 1)
})

test('an invalid value of the option, and unknown options, are refused', async () => {
  const { ours } = await twice()
  await refused(() => ours.save({ onConflict: 'merge' }), 'InvalidArgumentError', { argument: 'options.onConflict' })
  await refused(() => ours.save({ onconflict: 'fork' }), 'InvalidArgumentError', { argument: 'options.onconflict' })
})

test('sessions that are changed and saved concurrently lose no message', async () => {
  const steps = fc.record({
    session: fc.nat({ max: 2 }),
    window: sometimes(0.2, fc.integer({ min: 1, max: 3 })),
    isSaved: fc.boolean(),
  })
  await forAll(60, list(1, 30, steps), async (steps) => {
    const storage = new MemoryStorage()
    const first = Session.create('a', { storage })
    await first.save()
    const sessions = [first]
    for (let index = 0; index < 2; index++) sessions.push(await Session.load('a', first.uuid, { storage }))
    const acknowledged = []
    for (const [index, { session: number, window, isSaved }] of steps.entries()) {
      const session = sessions[number]
      const message = `${index}`
      session.activeContext.append(text(message))
      if (window !== undefined) session.rollingSequenceWindow(window)
      if (isSaved) {
        await session.save({ onConflict: 'fork' })
        acknowledged.push(message)
      }
    }
    const last = await Session.load('a', first.uuid, { storage })
    const there = new Set()
    for (const id of await last.listContexts()) for (const found of texts(await last.loadContext(id))) there.add(found)
    for (const message of acknowledged) assert.ok(there.has(message), message)
  })
})

test('three processes at once lose no saved message', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const script = `
    import { Session } from 'peteos-session'
    const session = await Session.load(process.argv[1], process.argv[2])
    for (let index = 0; index < 15; index++) {
      session.activeContext.append({ role: 'user', content: [{ type: 'text', text: process.argv[3] + index }] })
      await session.save({ onConflict: 'fork' })
    }
  `
  const writers = ['a', 'b', 'c']
  await Promise.all(
    writers.map((name) => run(process.execPath, ['--input-type=module', '-e', script, directory, session.uuid, name])),
  )
  const last = await Session.load(directory, session.uuid)
  const there = new Set()
  for (const id of await last.listContexts()) for (const found of texts(await last.loadContext(id))) there.add(found)
  for (const name of writers)
    for (let index = 0; index < 15; index++) assert.ok(there.has(`${name}${index}`), `${name}${index}`)
})
