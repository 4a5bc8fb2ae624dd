// Session.update: loads, changes and saves under one lock.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { run, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')

const byNumber = (one, other) => Number(one.slice(1)) - Number(other.slice(1))
const texts = (context) => context.messages.map(({ content }) => content[0].text)

async function saved(directory, storage) {
  const session = Session.create(directory, { storage })
  await session.save()
  return session.uuid
}

const textsOf = async (directory, uuid, storage) =>
  texts((await Session.load(directory, uuid, { storage })).activeContext)

test('an update saves what the callback changed and returns what it returned', async () => {
  const storage = new MemoryStorage()
  const uuid = await saved('a', storage)
  let kept
  const result = await Session.update(
    'a',
    uuid,
    async (session) => {
      kept = session
      assert.equal(session.sessionDir, `a/${uuid}`)
      session.activeContext.append(text('1'))
      await session.save()
      session.activeContext.append(text('2'))
      session.saveSync()
      session.activeContext.append(text('3'))
      return 'result'
    },
    { storage },
  )
  assert.equal(result, 'result')
  assert.throws(() => kept.uuid, { name: 'DisposedError' }, 'the session is released')
  assert.deepEqual(await textsOf('a', uuid, storage), ['1', '2', '3'])
  assert.equal(await Session.update('a', uuid, () => 7, { storage }), 7)
})

test('an update whose callback throws saves nothing, and the next one works', async () => {
  const storage = new MemoryStorage()
  const uuid = await saved('a', storage)
  const failure = new Error('no')
  const failing = (session) => {
    session.activeContext.append(text('lost'))
    throw failure
  }
  await assert.rejects(Session.update('a', uuid, failing, { storage }), (error) => error === failure)
  assert.deepEqual(await textsOf('a', uuid, storage), [])
  await Session.update('a', uuid, (session) => session.activeContext.append(text('1')), { storage })
  assert.deepEqual(await textsOf('a', uuid, storage), ['1'])
})

test('an update is not repeated after a conflict that the callback throws', async () => {
  const storage = new MemoryStorage()
  const uuid = await saved('a', storage)
  let calls = 0
  const change = (session) => {
    calls += 1
    session.state.create('k', 'v')
    session.state.update('k', 'another', 'w')
  }
  await refused(() => Session.update('a', uuid, change, { storage }), 'ConflictError', { variable: 'k' })
  assert.equal(calls, 1)
})

test('arguments, options and sessions that do not exist are refused', async (t) => {
  const storage = new MemoryStorage()
  const uuid = await saved('a', storage)
  const nothing = () => undefined
  await refused(() => Session.update('a', uuid, null, { storage }), 'InvalidArgumentError', { argument: 'change' })
  await refused(() => Session.update('a', '../x', nothing, { storage }), 'InvalidArgumentError', { argument: 'uuid' })
  await refused(() => Session.update('a', uuid, nothing, { onConflict: 'fork' }), 'InvalidArgumentError')
  await refused(() => Session.update('a', 'gone', nothing, { storage }), 'SessionNotFoundError')
  const directory = tempDir(t)
  await refused(() => Session.update(directory, 'gone', nothing), 'SessionNotFoundError')
  assert.deepEqual(readdirSync(directory), [], 'no directory is left behind')
})

/** A storage with digests but without locks. */
class Lockless extends RecordingStorage {
  async digest(path) {
    const data = await this.read(path)
    return data === null ? null : Buffer.from(await crypto.subtle.digest('SHA-256', data)).toString('hex')
  }
}

test('without locks, an update with a conflict is repeated on the current session', async () => {
  const storage = new Lockless()
  const uuid = await saved('a', storage)
  let calls = 0
  const change = async (session) => {
    calls += 1
    session.activeContext.append(text('ours'))
    if (calls > 2) return
    const other = await Session.load('a', uuid, { storage })
    other.activeContext.append(text(`theirs ${calls}`))
    await other.save()
  }
  await Session.update('a', uuid, change, { storage })
  assert.equal(calls, 3)
  assert.deepEqual(await textsOf('a', uuid, storage), ['theirs 1', 'theirs 2', 'ours'])
})

test('updates in one thread are served in order', async (t) => {
  const directory = tempDir(t)
  const uuid = await saved(directory)
  const numbers = Array.from({ length: 20 }, (_, index) => String(index))
  const append = (number) => Session.update(directory, uuid, (session) => session.activeContext.append(text(number)))
  await Promise.all(numbers.map(append))
  assert.deepEqual(await textsOf(directory, uuid), numbers)
})

test('four processes that update one session lose nothing', async (t) => {
  const directory = tempDir(t)
  const uuid = await saved(directory)
  const source = `
    import { Session } from 'peteos-session'
    const [, directory, uuid, name] = process.argv
    for (let index = 0; index < 25; index++) {
      await Session.update(directory, uuid, (session) => {
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text: name + index }] })
      })
    }
  `
  const writers = ['a', 'b', 'c', 'd']
  const start = (name) => run(process.execPath, ['--input-type=module', '-e', source, directory, uuid, name])
  await Promise.all(writers.map(start))
  const found = await textsOf(directory, uuid)
  const expected = writers.flatMap((name) => Array.from({ length: 25 }, (_, index) => `${name}${index}`))
  assert.deepEqual([...found].sort(), expected.sort())
  for (const name of writers) {
    const own = found.filter((content) => content.startsWith(name))
    assert.deepEqual(own, expected.filter((content) => content.startsWith(name)).sort(byNumber), 'in order')
  }
})
