// Session.list in pages, in several time zones, and with adapters that read many files at once.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { script } from '../support/processes.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const HOUR = 3_600_000
const uuids = (summaries) => summaries.map(({ uuid }) => uuid)

/** A storage with sessions of several days, in a random order, and the times of their files. */
function storageWith(count, days = 9) {
  const storage = new RecordingStorage()
  const times = new Map()
  for (let index = 0; index < count; index++) {
    const day = 1 + ((index * 7) % days)
    const path = `a/2026010${day}-${(index * 7919) % 1000}-${index}/session.json`
    storage.put(path, '{}')
    times.set(path, Date.UTC(2026, 0, day) + ((index * 31) % 40) * HOUR)
  }
  storage.modifiedTime = async (path) => {
    storage.calls.push(`time ${path}`)
    return times.get(path) ?? null
  }
  return { storage, times }
}

async function pages(storage, limit, cursorOf = (summary) => summary) {
  const found = []
  for (let after; ; ) {
    const page = await Session.list('a', { storage, limit, after })
    assert.ok(page.length <= limit)
    if (page.length === 0) return found
    found.push(...page)
    after = cursorOf(page.at(-1))
  }
}

test('pages of any size are the list', async () => {
  const { storage } = storageWith(120)
  storage.put('a/20260104-damaged/session.json', '{')
  storage.put('a/other/session.json', '{}')
  const all = await Session.list('a', { storage })
  assert.equal(all.length, 121)
  for (const limit of [1, 7, 64, 65, 120, 121, 500]) {
    assert.deepEqual(await pages(storage, limit), all, `pages of ${limit}`)
    assert.deepEqual(await pages(storage, limit, ({ uuid }) => uuid), all, `pages of ${limit}, by uuid`)
  }
  assert.deepEqual(await Session.list('a', { storage, limit: 0 }), [])
  assert.deepEqual(await Session.list('a', { storage, after: all[49] }), all.slice(50), 'without a limit')
})

test('a page reads only the files of its sessions, and the times of the days that may be on it', async () => {
  const { storage } = storageWith(900)
  storage.takeCalls()
  const first = await Session.list('a', { storage, limit: 10 })
  const calls = storage.takeCalls()
  assert.equal(calls.filter((call) => call.startsWith('read ')).length, 10)
  const times = calls.filter((call) => call.startsWith('time ')).length
  assert.ok(times >= 100 && times <= 400, `${times} of 900 times`)
  await Session.list('a', { storage, limit: 10, after: first.at(-1) })
  assert.equal(storage.takeCalls().filter((call) => call.startsWith('read ')).length, 10)
})

test('pages stay what they are while sessions come and go', async () => {
  const { storage, times } = storageWith(60)
  const all = await Session.list('a', { storage })
  const first = await Session.list('a', { storage, limit: 20 })
  // The last one is removed, new ones are created, and one of the next page is saved again.
  await storage.remove(`${all[19].sessionDir}/session.json`)
  times.delete(`${all[19].sessionDir}/session.json`)
  for (const name of ['20260109-new', '20260110-new']) {
    storage.put(`a/${name}/session.json`, '{}')
    times.set(`a/${name}/session.json`, Date.UTC(2026, 0, 10, 9))
  }
  const saved = all[25]
  times.set(`${saved.sessionDir}/session.json`, saved.modifiedAt.getTime() + 400 * 24 * HOUR)
  const rest = await Session.list('a', { storage, after: first.at(-1) })
  const expected = all.slice(20).filter((summary) => summary !== saved)
  assert.deepEqual(
    uuids(rest).filter((uuid) => uuid !== saved.uuid),
    uuids(expected),
  )
  await refused(() => Session.list('a', { storage, after: all[19].uuid }), 'SessionNotFoundError', {
    path: `${all[19].sessionDir}/session.json`,
  })
  await refused(() => Session.list('a', { storage, after: 'never' }), 'SessionNotFoundError')
})

test('storages without times page by id', async () => {
  const storage = new RecordingStorage()
  for (let index = 0; index < 30; index++) storage.put(`a/2026010${1 + (index % 3)}-${index}/session.json`, '{}')
  assert.deepEqual(await pages(storage, 7), await Session.list('a', { storage }))
})

test('limit and after are validated', async () => {
  const storage = new MemoryStorage()
  for (const limit of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null, {}]) {
    await refused(() => Session.list('a', { storage, limit }), 'InvalidArgumentError', { argument: 'options.limit' })
  }
  for (const after of [
    5,
    {},
    [],
    { uuid: 'x' },
    { uuid: 5, modifiedAt: null },
    '../x',
    '',
    null,
    { uuid: '../x', modifiedAt: null },
  ]) {
    await refused(() => Session.list('a', { storage, after }), 'InvalidArgumentError', { argument: 'options.after' })
  }
  assert.deepEqual(await Session.list('a', { storage, after: { uuid: 'gone', modifiedAt: null } }), [])
  assert.deepEqual(await Session.list('a', { storage, after: { uuid: 'gone', modifiedAt: new Date() } }), [])
})

test('sessions that processes in two time zones save are in the order of the saves', async (t) => {
  const directory = tempDir(t)
  const file = script(
    t,
    `import { Session } from 'peteos-session'
     const session = Session.create(process.argv[2])
     await session.save()
     console.log(session.uuid)`,
  )
  const created = []
  // Their local dates differ by one day or two.
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Pacific/Kiritimati', 'UTC', 'Pacific/Pago_Pago']) {
    const env = { ...process.env, TZ: zone }
    created.push(execFileSync(process.execPath, [file, directory], { env, encoding: 'utf8' }).trim())
  }
  assert.deepEqual(uuids(await Session.list(directory)), created.reverse())
  assert.deepEqual(uuids(await Session.list(directory, { limit: 2 })), created.slice(0, 2))
})

test('an adapter may read many files at once', async () => {
  const { storage, times } = storageWith(200)
  storage.put('a/20260103-damaged/session.json', '{')
  const expected = []
  const all = await Session.list('a', { storage, onError: (error) => expected.push(error.path) })
  const calls = []
  storage.readMany = async (paths) => {
    calls.push(paths.length)
    return Promise.allSettled(
      paths.map(async (path) => {
        if (path.includes('20260105')) throw Object.assign(new Error('no'), { code: 'EIO' })
        const data = await storage.read(path)
        return data === null ? null : { data, modifiedTime: times.get(path) ?? null }
      }),
    )
  }
  const errors = []
  const found = await Session.list('a', { storage, onError: (error) => errors.push(error) })
  assert.deepEqual(
    found,
    all.filter(({ uuid }) => !uuid.startsWith('20260105')),
  )
  assert.ok(calls.every((count) => count <= 64))
  assert.equal(errors.filter(({ code }) => code === 'EIO').length, all.length - found.length)
  assert.equal(errors.filter(({ name }) => name === 'CorruptSessionError').length, expected.length)
})

test('what readMany returns is validated', async () => {
  for (const answer of [undefined, null, 5, [], [1, 2], {}, [{ status: 'fulfilled', value: 5 }]]) {
    const storage = new RecordingStorage({ 'a/20260101-x/session.json': '{}' })
    storage.readMany = async () => answer
    const errors = []
    assert.deepEqual(await Session.list('a', { storage, onError: (error) => errors.push(error) }), [])
    assert.deepEqual(
      errors.map(({ name, path }) => [name, path]),
      [['StorageError', 'a/20260101-x/session.json']],
    )
  }
  const storage = new RecordingStorage({ 'a/20260101-x/session.json': '{}' })
  storage.readMany = async () => {
    throw Object.assign(new Error('no'), { code: 'EIO' })
  }
  const errors = []
  assert.deepEqual(await Session.list('a', { storage, onError: (error) => errors.push(error) }), [])
  assert.deepEqual(
    errors.map(({ code }) => code),
    ['EIO'],
  )
})

test('NodeFileStorage reads many files as it reads one', async (t) => {
  const directory = tempDir(t)
  const paths = Array.from({ length: 300 }, (_, index) => join(directory, `${index}`))
  for (const [index, path] of paths.entries()) {
    writeFileSync(path, `${index}`)
    utimesSync(path, 1000 + index, 1000 + index)
  }
  rmSync(paths[7])
  rmSync(paths[9])
  mkdirSync(paths[9])
  const results = await new NodeFileStorage().readMany(paths)
  for (const [index, { status, value, reason }] of results.entries()) {
    if (index === 9) assert.deepEqual([status, reason.code], ['rejected', 'EISDIR'])
    else if (index === 7) assert.deepEqual([status, value], ['fulfilled', null])
    else assert.deepEqual([`${value.data}`, value.modifiedTime], [`${index}`, (1000 + index) * 1000])
  }
  const confined = await new NodeFileStorage({ root: directory }).readMany(['5', '../x'])
  assert.deepEqual(
    confined.map(({ status, reason }) => reason?.code ?? status),
    ['fulfilled', 'EACCES'],
  )
})

test('a list does not keep other work waiting', async (t) => {
  const directory = tempDir(t)
  for (let index = 0; index < 2000; index++) {
    mkdirSync(join(directory, `20260101-${index}`))
    writeFileSync(join(directory, `20260101-${index}`, 'session.json'), '{}')
  }
  let turns = 0
  const count = () => {
    turns++
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  assert.equal((await Session.list(directory)).length, 2000)
  clearImmediate(turn)
  assert.ok(turns >= 30, `${turns} turns of the event loop`)
})

test('a page of MemoryStorage follows the saves', async () => {
  const storage = new MemoryStorage()
  const sessions = []
  for (let index = 0; index < 5; index++) {
    const session = Session.create('a', { storage })
    session.activeContext.append(text('x'))
    await session.save()
    const now = Date.now()
    while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1))
    sessions.unshift(session.uuid)
  }
  assert.deepEqual(uuids(await pages(storage, 2)), sessions)
})
