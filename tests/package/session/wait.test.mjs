// The options `signal` and `timeout`: a storage that does not answer hangs no call.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { HOLD } from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'
import { RecordingStorage, SilentStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const TIMEOUT = 20
const soon = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const textsOf = (context) => context.messages.map(({ content }) => content[0].text)

/** A session with two contexts, of which both have changes to save. */
async function changedSession(storage) {
  const session = Session.create('a', { storage })
  for (let number = 0; number < 4; number++) session.activeContext.append(text(`m${number}`))
  await session.save()
  session.rollingSequenceWindow(2)
  session.activeContext.append(text('new'))
  session.state.create('name', 'value')
  return session
}

/** What waits for the storage: each gets a storage, and returns a function of the options that runs it. */
const OPERATIONS = {
  save: async (storage) => {
    const session = await changedSession(storage)
    return (options) => session.save(options)
  },
  "save with 'fork'": async (storage) => {
    const session = await changedSession(storage)
    const other = await Session.load('a', session.uuid, { storage })
    other.activeContext.append(text('theirs'))
    await other.save()
    return (options) => session.save({ ...options, onConflict: 'fork' })
  },
  load: async (storage) => {
    const { uuid } = await saved(storage)
    return (options) => Session.load('a', uuid, { storage, ...options })
  },
  loadContext: async (storage) => {
    const session = await saved(storage)
    const again = await Session.load('a', session.uuid, { storage, activeContextId: null })
    return (options) => again.loadContext(session.activeContextId, options)
  },
  listContexts: async (storage) => {
    const session = await saved(storage)
    return (options) => session.listContexts(options)
  },
  transcript: async (storage) => {
    const { uuid } = await saved(storage)
    const again = await Session.load('a', uuid, { storage })
    return (options) => again.transcript(options)
  },
  list: async (storage) => {
    await saved(storage)
    await saved(storage)
    const onError = (error) => assert.fail(error)
    return (options) => Session.list('a', { storage, onError, ...options })
  },
  check: async (storage) => {
    const { uuid } = await saved(storage)
    return (options) => Session.check('a', uuid, { storage, ...options })
  },
  checkAll: async (storage) => {
    await saved(storage)
    await saved(storage)
    return (options) => Session.checkAll('a', { storage, ...options })
  },
  repair: async (storage) => {
    const { uuid } = await damaged(storage)
    return (options) => Session.repair('a', uuid, { storage, ...options })
  },
  'repair, dry': async (storage) => {
    const { uuid } = await damaged(storage)
    return (options) => Session.repair('a', uuid, { storage, dryRun: true, ...options })
  },
  update: async (storage) => {
    const { uuid } = await saved(storage)
    const change = (session) => {
      session.activeContext.append(text('updated'))
    }
    return (options) => Session.update('a', uuid, change, { storage, ...options })
  },
}

async function saved(storage) {
  const session = await changedSession(storage)
  await session.save()
  return session
}

async function damaged(storage) {
  const session = await saved(storage)
  storage.put(`a/${session.uuid}/session.json`, '')
  return session
}

/** The calls of an operation whose storage answers. */
async function callsOf(prepare) {
  const storage = new SilentStorage()
  const run = await prepare(storage)
  storage.takeCalls()
  await run({ timeout: 60_000 })
  return storage.takeCalls()
}

for (const [name, prepare] of Object.entries(OPERATIONS)) {
  test(`${name}: whichever call the storage does not answer, the operation ends, and calls nothing more`, async () => {
    const calls = await callsOf(prepare)
    assert.ok(calls.length > 0)
    let attempt = 0
    for (let silentAt = 1; silentAt <= calls.length; silentAt++) {
      for (const how of ['timeout', 'signal']) {
        const about = `${how}, call ${silentAt}: ${calls[silentAt - 1]}`
        const storage = new SilentStorage()
        const run = await prepare(storage)
        Object.assign(storage, { silentAt, count: 0 })
        storage.takeCalls()
        if (how === 'timeout') {
          // On a busy machine the time may be over before that call.
          const timeout = TIMEOUT * 2 ** attempt
          const error = await refused(() => run({ timeout }), 'StorageError', { code: 'ETIMEDOUT' }, about)
          if (storage.overdue === null) {
            attempt++
            silentAt--
            break
          }
          assert.equal(error.path, storage.overdue.path, about)
          assert.ok(
            error.message.includes(`${error.operation} ${error.path}: no answer within the timeout of ${timeout} ms`),
          )
          assert.equal(error.operation, OPERATION_OF[storage.overdue.method] ?? storage.overdue.method, about)
        } else {
          const reason = new Error('enough')
          const controller = new AbortController()
          const running = run({ signal: controller.signal })
          while (storage.overdue === null) await soon(1)
          controller.abort(reason)
          await assert.rejects(running, (error) => error === reason, about)
        }
        const made = storage.takeCalls()
        await soon()
        assert.deepEqual(storage.takeCalls(), [], `${about}: later calls`)
        assert.ok(made.length <= calls.length, about)
        storage.silentAt = 0
        await run()
      }
    }
  })
}

/** How errors name the methods. */
const OPERATION_OF = { digest: 'read', modifiedTime: 'read the time of' }

test('a session can be saved after a save that ended early: everything is written, whichever call was not answered', async () => {
  const calls = await callsOf(OPERATIONS.save)
  for (let silentAt = 1; silentAt <= calls.length; silentAt++) {
    const storage = new SilentStorage()
    const session = await changedSession(storage)
    Object.assign(storage, { silentAt, count: 0 })
    await refused(() => session.save({ timeout: TIMEOUT }), 'StorageError', { code: 'ETIMEDOUT' })
    session.activeContext.append(text('later'))
    await session.save({ timeout: 60_000 })
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.activeContext.messages, session.activeContext.messages, calls[silentAt - 1])
    assert.deepEqual(again.rawDict, session.rawDict)
    assert.equal((await Session.check('a', session.uuid, { storage })).ok, true)
    const before = storage.texts()
    await session.save()
    assert.deepEqual(storage.texts(), before, 'nothing is left to write')
  }
})

/** Its writes land when `land()` is called, unless their lease is lost by then. */
class SlowStorage extends MemoryStorage {
  waiting = null

  async write(path, data, lease) {
    if (this.waiting === null) return super.write(path, data, lease)
    await new Promise((resolve) => this.waiting.push(resolve))
    if (this.ignoresLeases) return super.write(path, data)
    return super.write(path, data, lease)
  }

  land() {
    for (const resolve of this.waiting ?? []) resolve()
    this.waiting = null
  }
}

/** Saves, and gives up because the storage does not answer. Returns a function that lets the write land. */
async function givenUp(session, storage) {
  storage.waiting = []
  await refused(() => session.save({ timeout: TIMEOUT }), 'StorageError', { operation: 'write', code: 'ETIMEDOUT' })
  const { waiting } = storage
  storage.waiting = null
  return async () => {
    storage.waiting = waiting
    storage.land()
    await soon()
  }
}

test('a write that was given up does not land after a later save, if the adapter checks the lease', async () => {
  const storage = new SlowStorage()
  const session = await changedSession(storage)
  const land = await givenUp(session, storage)
  session.activeContext.append(text('later'))
  await session.save()
  await land()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(textsOf(again.activeContext).at(-1), 'later')
})

test('a write that was given up and lands nevertheless is a conflict or is written over, and nothing in memory is lost', async () => {
  const storage = new SlowStorage()
  storage.ignoresLeases = true
  const session = await changedSession(storage)
  const landBefore = await givenUp(session, storage)
  // It lands before the next save.
  await landBefore()
  session.activeContext.append(text('later'))
  await session.save()
  assert.equal(textsOf((await Session.load('a', session.uuid, { storage })).activeContext).at(-1), 'later')
  // It lands after the next save.
  session.activeContext.append(text('again'))
  const landAfter = await givenUp(session, storage)
  session.activeContext.append(text('and again'))
  await session.save()
  await landAfter()
  session.activeContext.append(text('last'))
  await refused(() => session.save({ timeout: 60_000 }), 'ConflictError')
  await session.save({ onConflict: 'fork' })
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(textsOf(again.activeContext).slice(-3), ['again', 'and again', 'last'])
})

test('a signal that is aborted already rejects with its reason before the storage is asked, for every operation', async () => {
  for (const [name, prepare] of Object.entries(OPERATIONS)) {
    for (const reason of [undefined, new Error('enough'), 'text', null]) {
      const storage = new SilentStorage()
      const run = await prepare(storage)
      storage.takeCalls()
      const controller = new AbortController()
      controller.abort(reason)
      const { signal } = controller
      await assert.rejects(
        run({ signal }),
        (error) => (reason == null ? error.name === 'AbortError' : error === reason),
        name,
      )
      assert.deepEqual(storage.takeCalls(), [], name)
      await run()
    }
  }
})

test('options of the wrong type are refused, for every operation', async () => {
  const wrong = [
    ['timeout', ['5', -1, Number.NaN, Infinity, {}]],
    ['signal', [true, {}, new AbortController(), { aborted: true }]],
  ]
  for (const [name, prepare] of Object.entries(OPERATIONS)) {
    const run = await prepare(new SilentStorage())
    for (const [option, values] of wrong) {
      for (const value of values) {
        const argument = `options.${option}`
        await refused(() => run({ [option]: value }), 'InvalidArgumentError', { argument }, `${name}, ${String(value)}`)
      }
    }
    await run({ timeout: undefined, signal: undefined })
  }
})

test('a timeout longer than the longest timer is none', async (t) => {
  const storage = new SilentStorage()
  const session = await changedSession(storage)
  await session.save({ timeout: 1e12 })
  assert.equal(storage.texts()[`a/${session.uuid}/session.json`] === undefined, false)
  const directory = tempDir(t)
  const held = new NodeFileStorage({ lockTimeout: 1e12 })
  const order = []
  await Promise.all([1, 2].map((number) => held.lock(directory, async () => order.push(number))))
  assert.deepEqual(order, [1, 2])
})

test('signals of other realms serve, and keep no listener', async () => {
  const storage = new SilentStorage()
  const run = await OPERATIONS.save(storage)
  const listeners = new Set()
  const signal = {
    aborted: false,
    reason: undefined,
    addEventListener: (_, listener) => listeners.add(listener),
    removeEventListener: (_, listener) => listeners.delete(listener),
  }
  await run({ signal })
  assert.equal(listeners.size, 0)
  const next = await OPERATIONS.save(storage)
  Object.assign(storage, { silentAt: 2, count: 0 })
  const running = next({ signal })
  await soon()
  for (const listener of listeners) listener()
  await assert.rejects(running, { name: 'AbortError' })
  assert.equal(listeners.size, 0)
})

test('a save that waits for an earlier one of its session ends, and is not carried out later', async () => {
  const storage = new SlowStorage()
  const session = await changedSession(storage)
  storage.waiting = []
  const first = session.save()
  await soon()
  session.activeContext.append(text('of the second'))
  await refused(() => session.save({ timeout: TIMEOUT }), 'StorageError', {
    operation: 'save',
    path: session.sessionDir,
    code: 'ETIMEDOUT',
  })
  const waiting = storage.waiting
  storage.land()
  await first
  await soon()
  assert.equal(waiting.length, 1)
  const again = await Session.load('a', session.uuid, { storage })
  assert.ok(!textsOf(again.activeContext).includes('of the second'))
  await session.save()
  assert.ok(textsOf((await Session.load('a', session.uuid, { storage })).activeContext).includes('of the second'))
})

test('a wait for a lock ends at once, and the callers behind it are served', async (t) => {
  const storages = { MemoryStorage: [new MemoryStorage(), 'd'], NodeFileStorage: [new NodeFileStorage(), tempDir(t)] }
  for (const [name, [storage, directory]] of Object.entries(storages)) {
    let release
    const held = storage.lock(directory, () => new Promise((resolve) => (release = resolve)))
    const controller = new AbortController()
    const { signal } = controller
    const waiting = storage.lock(directory, () => assert.fail('it acquired the lock'), { signal })
    const behind = storage.lock(directory, async () => 'behind')
    await soon()
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(waiting, (error) => error === reason, name)
    release()
    await held
    assert.equal(await behind, 'behind')
    // An abort of the holder changes nothing.
    const another = new AbortController()
    const work = async () => {
      another.abort()
      await soon()
      return 'held'
    }
    assert.equal(await storage.lock(directory, work, { signal: another.signal }), 'held')
  }
})

test('a save ends while another process holds the lock, and leaves no trace', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const holder = start(script(t, HOLD), session.sessionDir)
  await holder.first
  session.isActive = true
  await refused(() => session.save({ timeout: 50 }), 'StorageError', {
    operation: 'lock',
    path: session.sessionDir,
    code: 'ETIMEDOUT',
  })
  const controller = new AbortController()
  const saving = session.save({ signal: controller.signal })
  const started = performance.now()
  setTimeout(() => controller.abort(), 20)
  await assert.rejects(saving, { name: 'AbortError' })
  assert.ok(performance.now() - started < 2000)
  holder.kill()
  await holder.ended
  await session.save({ timeout: 10_000 })
  assert.equal((await Session.load(directory, session.uuid)).isActive, true)
})

test('a lock that an adapter acquires too late is released, and nothing is written under it', async () => {
  class LateLock extends RecordingStorage {
    grant = null
    released = 0

    async lock(_directory, work) {
      await new Promise((resolve) => (this.grant = resolve))
      try {
        return await work()
      } finally {
        this.released++
      }
    }
  }
  const storage = new LateLock()
  const session = Session.create('a', { storage })
  await refused(() => session.save({ timeout: TIMEOUT }), 'StorageError', { operation: 'lock', code: 'ETIMEDOUT' })
  storage.grant()
  await soon()
  assert.equal(storage.released, 1)
  assert.deepEqual(storage.calls, [])
  const saving = session.save()
  await soon()
  storage.grant()
  await saving
  assert.equal(storage.files.size, 2)
})

test('an update that is given up while its change runs releases the lock, and its session is saved no more', async (t) => {
  const storages = { MemoryStorage: new MemoryStorage(), NodeFileStorage: new NodeFileStorage({ root: tempDir(t) }) }
  for (const storage of Object.values(storages)) {
    const { uuid, sessionDir } = await (async () => {
      const session = await changedSession(storage)
      await session.save()
      return session
    })()
    let resume
    let late
    const change = async (session) => {
      session.activeContext.append(text('late'))
      await new Promise((resolve) => (resume = resolve))
      late = await Promise.allSettled([session.save(), (async () => session.saveSync())()])
    }
    const options = { storage, timeout: 60 }
    await refused(() => Session.update('a', uuid, change, options), 'StorageError', {
      operation: 'update',
      path: sessionDir,
      code: 'ETIMEDOUT',
    })
    // The lock is free.
    await storage.lock(sessionDir, async () => undefined)
    resume()
    while (late === undefined) await soon()
    assert.deepEqual(
      late.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.ok(!textsOf((await Session.load('a', uuid, { storage })).activeContext).includes('late'))
  }
})

test('a session that was loaded with a timeout can be used and saved later', async () => {
  const storage = new SilentStorage()
  const { uuid } = await saved(storage)
  const controller = new AbortController()
  const session = await Session.load('a', uuid, { storage, timeout: 100, signal: controller.signal })
  controller.abort()
  await soon(110)
  assert.equal(session.storage, storage)
  session.activeContext.append(text('later'))
  await session.save()
  assert.ok((await session.transcript()).length > 0)
})

test('a timer keeps the process alive until its call ends, and no longer', async () => {
  const started = performance.now()
  const output = await runModule(`
    import { MemoryStorage, Session } from 'peteos-session'
    const storage = new MemoryStorage()
    const session = Session.create('a', { storage })
    await session.save({ timeout: 60_000 })
    storage.read = () => new Promise(() => undefined)
    await Session.load('a', session.uuid, { storage, timeout: 50 }).catch(({ code }) => console.log(code))
  `)
  assert.equal(output, 'ETIMEDOUT\n')
  assert.ok(performance.now() - started < 30_000)
})
