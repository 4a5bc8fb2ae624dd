// Concurrent saves, synchronous saves and repairs of one session: every acknowledged change is stored.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { holderText, lockFile, lockText, ownLock, writeLock } from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const texts = (session) => session.activeContext.messages.map(({ content }) => content[0].text)
const hidden = (directory) => readdirSync(directory).filter((name) => name.startsWith('.'))

/** The outcome of a call: `null`, or the name of its error. */
async function outcome(work) {
  try {
    await work()
    return null
  } catch (error) {
    return error.name
  }
}

const kinds = {
  MemoryStorage: () => new MemoryStorage(),
  NodeFileStorage: (t) => new NodeFileStorage({ root: tempDir(t), durability: 'unsafe-on-power-loss' }),
}

/** Runs `work` at the `at`-th moment, counting before and after each call of the storage's methods. */
function interleave(storage, at, work) {
  let moment = 0
  const step = () => {
    if (++moment === at) work()
  }
  for (const method of ['digest', 'write']) {
    const call = storage[method].bind(storage)
    storage[method] = async (...args) => {
      step()
      const value = call(...args)
      step()
      const settled = await value
      step()
      return settled
    }
  }
  return () => moment >= at
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind}: a save and a saveSync of another object at any moment of it lose nothing that was acknowledged`, async (t) => {
    const counts = { both: 0, 'save refused': 0, 'saveSync refused': 0 }
    for (let at = 1, reached = true; reached; at++) {
      const storage = make(t)
      const { uuid } = await saved(storage)
      const [one, other] = [await Session.load('a', uuid, { storage }), await Session.load('a', uuid, { storage })]
      const origin = one.activeContextId
      one.activeContext.append(text('one'))
      one.rollingSequenceWindow(1)
      one.activeContext.append(text('one again'))
      other.activeContext.append(text('other'))
      let sync = 'not called'
      const isReached = interleave(storage, at, () => {
        try {
          other.saveSync()
          sync = null
        } catch (error) {
          sync = error.name
        }
      })
      const save = await outcome(() => one.save())
      reached = isReached()
      if (!reached) break
      assert.ok(save === null || save === 'ConflictError', save)
      assert.ok(sync === null || sync === 'ConflictError', sync)
      assert.ok(save === null || sync === null, 'one of the two is saved')
      counts[save ? 'save refused' : sync ? 'saveSync refused' : 'both']++
      const found = await Session.load('a', uuid, { storage, activeContextId: origin })
      assert.equal(texts(found).includes('one'), save === null, `moment ${at}: what save acknowledged`)
      assert.equal(texts(found).includes('other'), sync === null, `moment ${at}: what saveSync acknowledged`)
      if (save === null) assert.deepEqual(texts(await Session.load('a', uuid, { storage })), ['one', 'one again'])
    }
    assert.ok(counts['save refused'] > 0 && counts['saveSync refused'] > 0, JSON.stringify(counts))
    t.diagnostic(JSON.stringify(counts))
  })
}

async function saved(storage) {
  const session = Session.create('a', { storage })
  session.activeContext.append(text('base'))
  await session.save()
  return session
}

test('a save that loses its lock to another holder is a ConflictError, and does not overwrite the file', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const session = Session.create(directory, { storage })
  session.activeContext.append(text('one'))
  await session.save()
  const path = join(session.sessionDir, `${session.activeContextId}.json`)
  const before = readFileSync(path, 'utf8')
  const write = storage.write.bind(storage)
  storage.write = async (...args) => {
    const writing = write(...args)
    writeFileSync(lockFile(session.sessionDir), lockText({ place: 'elsewhere', pid: 1, thread: 1, started: 1 }))
    await writing
  }
  session.activeContext.append(text('two'))
  const error = await refused(() => session.save(), 'ConflictError', { path, code: 'ERR_CONFLICT' })
  assert.match(error.message, /took over the lock/)
  assert.equal(readFileSync(path, 'utf8'), before)
  assert.deepEqual(hidden(session.sessionDir), ['.lock'])
  unlinkSync(lockFile(session.sessionDir))
  storage.write = write
  await session.save()
  assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['one', 'two'])
})

test('with onConflict fork, a save that was overtaken keeps both versions', async (t) => {
  const storage = new NodeFileStorage({ root: tempDir(t) })
  const { uuid } = await saved(storage)
  const [one, other] = [await Session.load('a', uuid, { storage }), await Session.load('a', uuid, { storage })]
  const origin = one.activeContextId
  one.activeContext.append(text('one'))
  other.activeContext.append(text('other'))
  const write = storage.write.bind(storage)
  storage.write = async (...args) => {
    storage.write = write
    const writing = write(...args)
    other.saveSync()
    await writing
  }
  const forks = await one.save({ onConflict: 'fork' })
  assert.deepEqual(forks, [{ originContextId: origin, contextId: one.activeContextId }])
  assert.deepEqual(texts(await Session.load('a', uuid, { storage })), ['base', 'one'])
  assert.deepEqual(texts(await Session.load('a', uuid, { storage, activeContextId: origin })), ['base', 'other'])
})

test('saveSync waits for another process, and after the timeout throws and writes nothing', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory, { storage: new NodeFileStorage({ lockTimeout: 50 }) })
  await session.save()
  const { place } = await ownLock(session.storage, session.sessionDir)
  writeLock(session.sessionDir, { place: `${place}x`, pid: 1, thread: 1, started: 1 })
  session.activeContext.append(text('x'))
  const details = { operation: 'lock', path: session.sessionDir, code: 'ELOCKED' }
  refusedNow(() => session.saveSync(), 'StorageError', details)
  assert.equal((await Session.load(directory, session.uuid)).activeContext.messageCount, 0)
  unlinkSync(lockFile(session.sessionDir))
  session.saveSync()
  assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['x'])
  session.saveSync()
  assert.deepEqual(hidden(session.sessionDir), [])
})

test('a link in place of the lock ends each save in a sentence that names it, and nothing is written', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  session.append(text('x'))
  await session.save()
  const before = textsUnder(session.sessionDir)
  session.append(text('y'))
  const link = lockFile(session.sessionDir)
  symlinkSync('nowhere', link)
  const details = {
    operation: 'lock',
    path: session.sessionDir,
    code: 'ELOCKED',
    message: new RegExp(`${link} is a symbolic link, not a lock file: remove it, then try again`),
  }
  await refused(() => session.save(), 'StorageError', details)
  refusedNow(() => session.saveSync(), 'StorageError', details)
  unlinkSync(link)
  assert.deepEqual(textsUnder(session.sessionDir), before)
  session.saveSync()
  assert.deepEqual(texts(await Session.load(directory, session.uuid)), ['x', 'y'])
})

test('processes that save, save synchronously, and repair one session lose no acknowledged message', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  session.activeContext.append(text('start'))
  await session.save()
  const file = script(
    t,
    `
    import { ConflictError, Session } from 'peteos-session'
    const [directory, uuid, name, how] = process.argv.slice(2)
    const attempt = async (work) => {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
        }
      }
    }
    for (let index = 0; index < 15; index++) {
      await attempt(async () => {
        if (how === 'repair') return Session.repair(directory, uuid)
        const session = await Session.load(directory, uuid)
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text: name + ' ' + index }] })
        if (how === 'save') await session.save()
        else session.saveSync()
        console.log(name + ' ' + index)
      })
    }
  `,
  )
  const roles = ['save', 'saveSync', 'saveSync', 'repair']
  const writers = roles.map((how, index) => start(file, directory, session.uuid, `writer ${index}`, how))
  assert.deepEqual(await Promise.all(writers.map(({ ended }) => ended)), [0, 0, 0, 0])
  const acknowledged = writers.flatMap(({ lines }) => lines)
  assert.equal(acknowledged.length, 45)
  const found = texts(await Session.load(directory, session.uuid))
  assert.deepEqual([...found].sort(), ['start', ...acknowledged].sort())
  assert.deepEqual(hidden(session.sessionDir), [])
})

test('a repair keeps a copy of what a killed writer was about to save, although it removes its temporary files', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  session.activeContext.append(text('one'))
  await session.save()
  const name = `${session.activeContextId}.json`
  const whole = readFileSync(join(session.sessionDir, name), 'utf8').replace('one', 'two')
  const { place } = await ownLock(session.storage, session.sessionDir)
  const pid = Number(await runModule('console.log(process.pid)'))
  const leftover = `.${name}.${holderText({ place, pid, thread: pid, started: 1 })}.x.tmp`
  writeFileSync(join(session.sessionDir, leftover), whole)
  const { actions } = await Session.repair(directory, session.uuid)
  assert.deepEqual(
    actions.map(({ rule }) => rule),
    ['leftover-file'],
  )
  assert.equal(readFileSync(actions[0].copy, 'utf8'), whole)
  assert.deepEqual(
    hidden(session.sessionDir).filter((found) => !found.endsWith('.bak')),
    [],
  )
})

test('a repair waits for the lock, holds it, and creates no directory for an absent session', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage({ lockTimeout: 30 })
  const session = Session.create(directory, { storage })
  await session.save()
  const path = join(session.sessionDir, 'session.json')
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20))
  await storage.lock(session.sessionDir, async () => {
    await refused(() => Session.repair(directory, session.uuid, { storage }), 'StorageError', {
      operation: 'lock',
      code: 'ELOCKED',
    })
  })
  const write = storage.write.bind(storage)
  let locks = 0
  storage.write = (...args) => {
    if (readdirSync(session.sessionDir).includes('.lock')) locks++
    return write(...args)
  }
  const { actions } = await Session.repair(directory, session.uuid, { storage })
  assert.ok(actions.length > 0)
  assert.ok(locks > 0)
  await refused(() => Session.repair(join(directory, 'none'), 'none', { storage }), 'SessionNotFoundError')
  assert.deepEqual(readdirSync(directory), [session.uuid])
})

test('a session stays in place when the process changes its directory, and its sessionDir is as given', async (t) => {
  const directory = tempDir(t)
  mkdirSync(join(directory, 'one'))
  mkdirSync(join(directory, 'two'))
  const output = await runModule(`
    import { Session } from 'peteos-session'
    process.chdir(${JSON.stringify(join(directory, 'one'))})
    const session = Session.create('agents')
    const { sessionDir } = session
    await session.save()
    const loaded = await Session.load('agents', session.uuid)
    process.chdir(${JSON.stringify(join(directory, 'two'))})
    loaded.state.create('k', 'v')
    await loaded.save()
    session.state.create('k', 'w')
    const error = await session.save().catch((error) => error)
    const missing = await Session.load('agents', session.uuid).catch((error) => error)
    console.log(sessionDir === 'agents/' + session.uuid, loaded.sessionDir === sessionDir, error.name, missing.name)
  `)
  assert.equal(output, 'true true ConflictError SessionNotFoundError\n')
  assert.deepEqual(
    readdirSync(directory, { recursive: true }).filter((name) => name.startsWith('two')),
    ['two'],
  )
  rmSync(directory, { recursive: true })
})
