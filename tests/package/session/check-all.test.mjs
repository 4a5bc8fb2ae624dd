// Session.checkAll: the sessions of a directory with findings, and what no session uses.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { tempDir, textsUnder } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { script, start } from '../support/processes.mjs'
import { FailingStorage, RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, MemoryStorage, Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const decode = (data) => new TextDecoder().decode(data)
const encode = (content) => new TextEncoder().encode(content)
const brief = ({ sessions }) =>
  sessions.map(({ uuid, ok, findings }) => [uuid, ok, ...findings.map(({ rule, path }) => `${rule} ${path}`)])

async function saved(parent, storage) {
  const session = Session.create(parent, { storage })
  session.activeContext.append(text('one'))
  await session.save()
  return session
}

const kinds = {
  MemoryStorage: () => ['a', new MemoryStorage()],
  NodeFileStorage: (t) => [tempDir(t), new NodeFileStorage()],
}

for (const [kind, make] of Object.entries(kinds)) {
  test(`${kind}: healthy sessions, forks, windows and other files have no findings`, async (t) => {
    const [parent, storage] = make(t)
    assert.deepEqual(await Session.checkAll(parent, { storage }), { ok: true, checked: 0, sessions: [] })
    const session = await saved(parent, storage)
    for (const message of ['two', 'three']) session.append(text(message))
    session.rollingSequenceWindow(2)
    await session.save()
    session.setActiveContext(session.activeContext.fork())
    await session.save()
    await saved(parent, storage)
    await storage.write(`${parent}/notes.txt`, encode('x'))
    await storage.write(`${parent}/helper/readme.md`, encode('x'))
    await storage.write(`${parent}/.git/config.json`, encode('x'))
    const result = await Session.checkAll(parent, { storage })
    assert.deepEqual(result, { ok: true, checked: 2, sessions: [] })
    assert.ok(Object.isFrozen(result.sessions))
  })

  test(`${kind}: a damaged session, orphans and leftovers are reported in order, and nothing is written`, async (t) => {
    const [parent, storage] = make(t)
    await saved(parent, storage)
    const source = await saved(parent, storage)
    const path = `${source.sessionDir}/${source.activeContextId}.json`
    const context = decode(await storage.read(path))
    const session = decode(await storage.read(`${source.sessionDir}/session.json`))
    const named = (uuid) => encode(session.replace(source.uuid, uuid))
    const fileOf = (id) => encode(context.replace(source.activeContextId, id))
    const files = {
      // The first save was killed before session.json.
      '1-orphan/c.json': fileOf('c'),
      // The first save was killed before its first file.
      '2-leftovers/.c.json.w.x.y.z.r.tmp': encode('{'),
      '2-leftovers/.lock': encode('{}'),
      // A save was killed after a new context.
      '3-unnamed/session.json': named('3-unnamed'),
      [`3-unnamed/${source.activeContextId}.json`]: encode(context),
      '3-unnamed/d.json': fileOf('d'),
      // Torn.
      '4-torn/session.json': named('4-torn').slice(0, 30),
      [`4-torn/${source.activeContextId}.json`]: encode(context),
    }
    for (const [name, data] of Object.entries(files)) await storage.write(`${parent}/${name}`, data)
    const all = await Session.checkAll(parent, { storage })
    assert.equal(all.ok, false)
    assert.equal(all.checked, 5)
    assert.deepEqual(brief(all), [
      ['1-orphan', false, `missing-session-file ${parent}/1-orphan/session.json`],
      [
        '2-leftovers',
        false,
        `leftover-file ${parent}/2-leftovers/.c.json.w.x.y.z.r.tmp`,
        `leftover-file ${parent}/2-leftovers/.lock`,
      ],
      ['3-unnamed', true, `unnamed-context ${parent}/3-unnamed/d.json`],
      ['4-torn', false, `torn-file ${parent}/4-torn/session.json`],
    ])
    const messages = all.sessions.flatMap(({ findings }) => findings.map(({ message }) => message))
    assert.ok(
      messages.every((message) => /Session\.repair fixes it|remove the file/.test(message)),
      messages.join('\n'),
    )
    for (const [name, data] of Object.entries(files)) {
      assert.deepEqual(decode(await storage.read(`${parent}/${name}`)), decode(data))
    }
    // A check of the session alone does not tell which contexts are in use.
    assert.deepEqual(await Session.check(parent, '3-unnamed', { storage }), { ok: true, findings: [] })
    for (const { uuid, findings } of all.sessions) {
      if (findings.some(({ repairable }) => repairable)) await Session.repair(parent, uuid, { storage })
    }
    const again = await Session.checkAll(parent, { storage })
    assert.deepEqual(
      again.sessions.filter(({ ok }) => !ok).map(({ uuid }) => uuid),
      ['2-leftovers'],
    )
  })
}

test('a context is not called unnamed if the file that may name it cannot be read', async () => {
  const storage = new RecordingStorage()
  const session = await saved('a', storage)
  const first = session.activeContextId
  session.setActiveContext(Context.create())
  await session.save()
  const unnamed = [[session.uuid, true, `unnamed-context a/${session.uuid}/${first}.json`]]
  assert.deepEqual(brief(await Session.checkAll('a', { storage })), unnamed)
  const path = `${session.sessionDir}/${session.activeContextId}.json`
  const whole = storage.text(path)
  storage.put(path, whole.slice(0, -1).concat('x'))
  assert.deepEqual(brief(await Session.checkAll('a', { storage })), [[session.uuid, false, `not-json ${path}`]])
})

test('a session that the storage fails to read does not hide the others', async () => {
  const storage = new RecordingStorage()
  const sessions = [await saved('a', storage), await saved('a', storage), await saved('a', storage)]
  const [one, other] = sessions.map(({ uuid }) => uuid).sort()
  storage.before = async (method, path) => {
    if ((method === 'list' && path.endsWith(one)) || path === `a/${other}/session.json`) throw new Error('broken')
  }
  const all = await Session.checkAll('a', { storage })
  assert.equal(all.checked, 1)
  assert.deepEqual(brief(all), [
    [one, false, `unreadable-file a/${one}`],
    [other, false, `unreadable-file a/${other}/session.json`],
  ])
  assert.match(all.sessions[0].findings[0].message, /broken/)
})

test('each call that fails, but for the first, is a finding of its directory', async () => {
  const storage = new FailingStorage()
  await saved('a', storage)
  storage.put('a/leftovers/.lock', '{}')
  storage.takeCalls()
  const whole = await Session.checkAll('a', { storage })
  const calls = storage.takeCalls()
  assert.ok(calls.length > 5)
  for (const [index, call] of calls.entries()) {
    storage.count = 0
    storage.failAt = index + 1
    if (index === 0) {
      await refused(() => Session.checkAll('a', { storage }), 'StorageError', { operation: 'list', path: 'a' })
      continue
    }
    const all = await Session.checkAll('a', { storage })
    assert.equal(all.ok, false)
    const [, path] = call.split(' ')
    const unreadable = all.sessions.flatMap(({ findings }) => findings).filter(({ rule }) => rule === 'unreadable-file')
    assert.deepEqual(
      unreadable.map((finding) => finding.path),
      [path],
      call,
    )
  }
  storage.failAt = 0
  assert.deepEqual(await Session.checkAll('a', { storage }), whole)
})

test('limits apply to each file, one file is read at a time, and wrong arguments are refused', async () => {
  const storage = new RecordingStorage()
  const session = await saved('a', storage)
  await saved('a', storage)
  let [reading, most] = [0, 0]
  const read = storage.read.bind(storage)
  storage.read = async (path) => {
    most = Math.max(most, ++reading)
    await new Promise((resolve) => setTimeout(resolve, 1))
    reading--
    return read(path)
  }
  session.append(text('long '.repeat(1000)))
  await session.save()
  const all = await Session.checkAll('a', { storage, maxFileBytes: 4000 })
  assert.deepEqual(brief(all), [
    [session.uuid, false, `file-too-large a/${session.uuid}/${session.activeContextId}.json`],
  ])
  assert.equal(most, 1)
  for (const [parent, options, argument] of [
    [5, {}, 'parentDir'],
    ['a', { maxFileBytes: -1 }, 'options.maxFileBytes'],
    ['a', { dryRun: true }, 'options.dryRun'],
    ['a', { storage: {} }, /^options\.storage/],
  ]) {
    const given = { storage, ...options }
    await refused(() => Session.checkAll(parent, given), 'InvalidArgumentError', { argument })
  }
})

/** Kills itself at the `step`th call of a function of `fs` in a save. */
const KILLED = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  import { Session } from 'peteos-session'
  const [directory, uuid, method, step] = process.argv.slice(2)
  const session = uuid === 'new' ? Session.create(directory) : await Session.load(directory, uuid)
  session.append({ role: 'user', content: [{ type: 'text', text: 'killed' }] })
  let count = 0
  const renameSync = fs.renameSync
  fs.renameSync = (...args) => {
    if (++count === Number(step)) process.kill(process.pid, 'SIGKILL')
    return renameSync(...args)
  }
  syncBuiltinESMExports()
  await session[method]()
`

for (const method of ['save', 'saveSync']) {
  for (const next of ['save', 'saveSync']) {
    test(`what a killed ${method} leaves is cleared by the next ${next}`, async (t) => {
      const parent = tempDir(t)
      const session = await saved(parent)
      const killed = start(script(t, KILLED), parent, session.uuid, method, '1')
      assert.equal(await killed.ended, 'SIGKILL')
      const left = readdirSync(session.sessionDir).filter((name) => name.startsWith('.'))
      assert.ok(left.includes('.lock') && left.some((name) => name.endsWith('.tmp')), left.join())
      session.append(text('two'))
      await session[next]()
      assert.deepEqual(await Session.checkAll(parent), { ok: true, checked: 1, sessions: [] })
      assert.deepEqual(
        readdirSync(session.sessionDir).sort(),
        [`${session.activeContextId}.json`, 'session.json'].sort(),
      )
    })
  }

  test(`a session of which the first ${method} was killed is found, and repaired or removed`, async (t) => {
    const parent = tempDir(t)
    const file = script(t, KILLED)
    // Before the first file.
    assert.equal(await start(file, parent, 'new', method, '1').ended, 'SIGKILL')
    const [empty] = readdirSync(parent)
    const nothing = await Session.checkAll(parent)
    assert.deepEqual([nothing.checked, nothing.ok, nothing.sessions.length], [0, false, 1])
    for (const { path } of nothing.sessions[0].findings) unlinkSync(path)
    assert.deepEqual(readdirSync(join(parent, empty)), [])
    assert.deepEqual(await Session.checkAll(parent), { ok: true, checked: 0, sessions: [] })
    // Between the context and session.json.
    assert.equal(await start(file, parent, 'new', method, '2').ended, 'SIGKILL')
    const { sessions } = await Session.checkAll(parent)
    assert.equal(sessions.length, 1)
    assert.equal(sessions[0].findings[0].rule, 'missing-session-file')
    const [{ uuid }] = sessions
    await Session.repair(parent, uuid)
    assert.deepEqual(await Session.checkAll(parent), { ok: true, checked: 1, sessions: [] })
    assert.equal((await Session.load(parent, uuid)).activeContext.messages[0].content[0].text, 'killed')
  })
}

test('directories that cannot be sessions are left alone', async (t) => {
  const parent = tempDir(t)
  mkdirSync(join(parent, 'nested', 'deeper'), { recursive: true })
  writeFileSync(join(parent, 'file.json'), '{}')
  mkdirSync(join(parent, 'empty'))
  const before = textsUnder(parent)
  assert.deepEqual(await Session.checkAll(parent), { ok: true, checked: 0, sessions: [] })
  assert.deepEqual(textsUnder(parent), before)
})
