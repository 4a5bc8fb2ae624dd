// Saves with a failing storage, or over the changes of another writer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { chance, fc, forAll, list, nth } from '../support/property.mjs'
import { FailingStorage, RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session, SystemPromptMessage } = await load('peteos-session')

function create(storage) {
  return Session.create('a', { storage, systemPromptMessage: SystemPromptMessage.create('s') })
}

test('an adapter that fails at its k-th call, for every k, loses nothing', async () => {
  for (let failAt = 1; ; failAt++) {
    const storage = new FailingStorage()
    const session = create(storage)
    const first = session.activeContext
    first.append(text('1'))
    first.append(text('2'))
    const second = session.rollingSequenceWindow(1)
    second.append(text('3'))
    session.isActive = true
    const before = [session.rawDict, first.rawDict, second.rawDict]
    storage.failAt = failAt
    let failed = false
    try {
      await session.save()
    } catch (error) {
      failed = true
      assert.equal(error.name, 'StorageError')
      assert.equal(error.code, 'ENOSPC')
      assert.equal(error.cause.message, `${error.operation} fails`)
      assert.equal(error.path, error.cause.path)
    }
    assert.deepEqual([session.rawDict, first.rawDict, second.rawDict], before)
    assert.equal(session.activeContext, second)
    if (!failed) {
      assert.equal(failAt, 4, 'two contexts and session.json')
      return
    }
    assert.equal(
      storage.files.has(`${session.sessionDir}/session.json`),
      false,
      'without its contexts there is no session',
    )
    second.append(text('4'))
    storage.takeCalls()
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.rawDict, session.rawDict)
    for (const context of [first, second])
      assert.deepEqual((await again.loadContext(context.id)).rawDict, context.rawDict)
    storage.takeCalls()
    await session.save()
    assert.deepEqual(storage.takeCalls(), [])
  }
})

test('a load, a list and a loadContext that fail at the k-th call change nothing', async () => {
  const good = new FailingStorage()
  const session = create(good)
  session.activeContext.append(text('1'))
  const first = session.activeContext
  session.rollingSequenceWindow(0)
  await session.save()
  const works = {
    load: (storage) => Session.load('a', session.uuid, { storage }),
    list: (storage) =>
      Session.list('a', {
        storage,
        onError: (error) => {
          throw error
        },
      }),
    loadContext: async (storage) => {
      const failAt = storage.failAt
      storage.failAt = 0
      const loaded = await Session.load('a', session.uuid, { storage })
      ;[storage.failAt, storage.count] = [failAt, 0]
      await loaded.loadContext(first.id)
    },
  }
  for (const [name, work] of Object.entries(works)) {
    for (let failAt = 1; ; failAt++) {
      const storage = new FailingStorage(Object.fromEntries(good.files))
      storage.failAt = failAt
      const before = storage.texts()
      try {
        await work(storage)
        assert.ok(failAt > 1, name)
        break
      } catch (error) {
        assert.equal(error.name, 'StorageError', name)
        assert.equal(error.code, 'ENOSPC')
        assert.ok(['read', 'list'].includes(error.operation))
      }
      assert.deepEqual(storage.texts(), before)
      storage.failAt = 0
      await work(storage)
    }
  }
})

test('a failed save does not block the next', async () => {
  const storage = new FailingStorage()
  const session = create(storage)
  storage.failAt = 1
  const [first, second, third] = await Promise.allSettled([session.save(), session.save(), session.save()])
  assert.deepEqual([first.status, second.status, third.status], ['rejected', 'fulfilled', 'fulfilled'])
  assert.ok(await Session.load('a', session.uuid, { storage }))
})

/** Operations on a session; `number` selects one of its contexts. */
const actions = {
  append: ({ session }) => session.activeContext.append(text('x')),
  appendToAny: ({ contexts, number }) => nth(contexts, number).append(text('y')),
  window: ({ session, keep, number }) => keep(session.rollingSequenceWindow(number % 5)),
  activate: ({ session, contexts, number }) => session.setActiveContext(nth(contexts, number)),
  fork: ({ session, keep }) => session.setActiveContext(keep(session.activeContext.fork())),
  setActive: ({ session, number }) => void (session.isActive = number % 2 === 0),
  save: ({ session, saves }) => void saves.push(session.save().catch(() => 'failed')),
  wait: ({ saves }) => saves.at(-1),
}
const orders = fc.record({
  steps: list(1, 25, fc.record({ action: fc.constantFrom(...Object.keys(actions)), number: fc.nat() })),
  /** Which calls of the storage are delayed, and which writes fail. */
  isLate: list(1, 20, chance(0.3)),
  isFailing: fc.oneof(fc.constant([false]), list(1, 20, chance(0.3))),
})

test('after any sequence of changes and saves, a save that succeeds leaves files equal to the session', async () => {
  await forAll(80, orders, async ({ steps, isLate, isFailing }) => {
    const storage = new RecordingStorage()
    let isRepaired = false
    let calls = 0
    storage.before = async (method) => {
      const call = calls++
      if (nth(isLate, call)) await new Promise((resolve) => setImmediate(resolve))
      if (!isRepaired && method === 'write' && nth(isFailing, call)) throw new Error('no')
    }
    const session = create(storage)
    const contexts = [session.activeContext]
    const saves = []
    const keep = (context) => {
      if (context !== null) contexts.push(context)
      return context
    }
    for (const { action, number } of steps) await actions[action]({ session, contexts, saves, keep, number })
    await Promise.all(saves)
    isRepaired = true
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.rawDict, session.rawDict)
    for (const context of contexts) assert.deepEqual((await again.loadContext(context.id)).rawDict, context.rawDict)
    storage.takeCalls()
    await session.save()
    assert.deepEqual(storage.takeCalls(), [])
  })
})

test('a save over a change of another writer is refused, and nothing is written', async () => {
  const storage = new MemoryStorage()
  const one = create(storage)
  one.activeContext.append(text('a'))
  await one.save()
  const other = await Session.load('a', one.uuid, { storage })
  other.activeContext.append(text('b'))
  await other.save()
  const path = `${one.sessionDir}/${one.activeContextId}.json`
  const before = await storage.read(path)
  for (const attempt of ['first', 'second']) {
    one.activeContext.append(text('c'))
    await refused(() => one.save(), 'ConflictError', { path, variable: null, code: 'ERR_CONFLICT' }, attempt)
    assert.deepEqual(await storage.read(path), before)
  }
  other.activeContext.append(text('d'))
  await other.save()
  const again = await Session.load('a', one.uuid, { storage })
  assert.deepEqual(
    again.activeContext.messages.map(({ content }) => content[0].text),
    ['s', 'a', 'b', 'd'],
  )
})

test('an adapter without digests writes without comparison, and one that returns invalid digests is refused', async () => {
  const storage = new MemoryStorage()
  const session = create(storage)
  storage.digest = () => undefined
  await session.save()
  session.activeContext.append(text('x'))
  storage.digest = () => 7
  await refused(() => session.save(), 'StorageError', { operation: 'write' })
  storage.digest = () => {
    throw Object.assign(new Error('x'), { code: 'EACCES' })
  }
  await refused(() => session.save(), 'StorageError', { operation: 'write', code: 'EACCES' })
  delete storage.digest
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.activeContext.messageCount, 2)
})
