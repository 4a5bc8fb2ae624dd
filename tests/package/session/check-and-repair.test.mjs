// Session.check and Session.repair: what they report, what they repair, and what they leave alone.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkError, refused } from '../support/errors.mjs'
import { tempDir, textsUnder } from '../support/files.mjs'
import { bytes, healthy, problems } from '../support/healthy.mjs'
import { load, root } from '../support/installed.mjs'
import { chance, fc, forAll, isUsual } from '../support/property.mjs'
import { FailingStorage, RecordingStorage } from '../support/storages.mjs'
import { NO_COUNTS, NO_IDS, text } from '../support/values.mjs'

const { ContentPart, Context, Message, Session, SystemPromptMessage } = await load('peteos-session')

test('a healthy session has no findings, and nothing is written', async () => {
  const { storage, check, repair } = await healthy()
  storage.takeCalls()
  assert.deepEqual(await check(), { ok: true, findings: [] })
  assert.deepEqual(await repair(), { actions: [], check: { ok: true, findings: [] } })
  assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
  assert.ok(Object.isFrozen((await check()).findings))
})

test('the demo session, which the Python package wrote, has no findings', async () => {
  const parent = join(root, 'examples', 'demo-session')
  const [{ uuid }] = await Session.list(parent)
  assert.deepEqual(await Session.check(parent, uuid), { ok: true, findings: [] })
})

test('sessions of every kind that this package writes have no findings', async () => {
  const storage = new RecordingStorage()
  const check = async (session) => {
    await session.save()
    assert.deepEqual((await Session.check('a', session.uuid, { storage })).findings, [])
  }
  const session = Session.create('a', { storage })
  await check(session)
  session.activeContext.append(text('x'))
  session.activeContext.append(Message.create('assistant', [ContentPart.toolUse('1', 'f', {})]))
  await check(session)
  session.activeContext.append(Message.create('tool_result', [ContentPart.toolResult('1', '')]))
  session.activeContext.append({ role: 'assistant', content: [{ type: 'thinking', text: 'x' }] })
  session.setActiveContext(session.activeContext.stripThinking())
  await check(session)
  session.setActiveContext(session.activeContext.fork({ systemPromptMessage: SystemPromptMessage.create('x') }))
  session.activeContext.append(text('\ud83d'))
  await check(session)
  session.setActiveContext(Context.create({ parentContext: session.activeContext }))
  await check(session)
  session.rawDict = { ...session.rawDict, active_context_id: null }
  await check(session)
})

test('a file that cannot be read does not hide findings of other files', async () => {
  const fixture = await healthy()
  const { storage, first, active, check, repair, change } = fixture
  change(active, (dict) => void (dict._mutation_counter = 0))
  storage.before = async (method, path) => {
    if (method === 'read' && path === first) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
  }
  const expected = [
    [first, 'unreadable-file', false],
    [active, 'counter-lags', true],
  ].sort()
  const { findings } = await check()
  assert.deepEqual(
    findings.map(({ path, rule, repairable }) => [path, rule, repairable]),
    expected,
  )
  assert.match(findings.find(({ rule }) => rule === 'unreadable-file').message, /EIO: i\/o error/)
  assert.deepEqual(
    (await repair()).actions.map(({ rule }) => rule),
    ['counter-lags'],
  )
})

test('many findings of many files come in a fixed order', async () => {
  const fixture = await healthy()
  const { storage, change, cut, first, active, sessionPath, path, check } = fixture
  change(sessionPath, (dict) => void Object.assign(dict, { uuid: 'x', active_context_id: 'gone' }))
  cut(first, 3)
  change(
    active,
    (dict) => void Object.assign(dict, { _mutation_counter: 0, message_sequence: 0, children: ['a', 'b'] }),
  )
  storage.put(path('notes.txt'), '')
  storage.put(path('zz.json'), '[]')
  const { findings } = await check()
  const inContexts = [
    [active, 'dangling-child'],
    [active, 'dangling-child'],
    [active, 'counter-lags'],
    [active, 'counter-lags'],
    [first, 'torn-file'],
    [path('zz.json'), 'wrong-shape'],
  ].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
  assert.deepEqual(
    findings.map(({ path, rule }) => [path, rule]),
    [
      [sessionPath, 'uuid-mismatch'],
      [sessionPath, 'dangling-active-context'],
      ...inContexts,
      [path('notes.txt'), 'other-file'],
    ],
  )
  assert.deepEqual((await check()).findings, findings)
  const shuffled = new RecordingStorage()
  for (const [name, data] of [...storage.files].reverse()) shuffled.put(name, data)
  assert.deepEqual((await Session.check('a', fixture.uuid, { storage: shuffled })).findings, findings)
})

test('an absent session, invalid arguments, and a storage that fails at any call are errors', async () => {
  const storage = new RecordingStorage()
  for (const work of [Session.check, Session.repair]) {
    await refused(() => work('a', 'x', { storage }), 'SessionNotFoundError', { path: 'a/x/session.json' })
    for (const uuid of NO_IDS)
      await refused(() => work('a', uuid, { storage }), 'InvalidArgumentError', { argument: 'uuid' })
    await refused(() => work('a', 'x', { storage, maxBytes: 1 }), 'InvalidArgumentError', {
      argument: 'options.maxBytes',
    })
    await refused(() => work('a', 'x', { storage: {} }), 'InvalidArgumentError')
    await refused(() => work(5, 'x', { storage }), 'InvalidArgumentError', { argument: 'parentDir' })
    for (const maxFileBytes of NO_COUNTS.filter((value) => value !== undefined)) {
      await refused(() => work('a', 'x', { storage, maxFileBytes }), 'InvalidArgumentError', {
        argument: 'options.maxFileBytes',
      })
    }
  }
  for (let failAt = 1; ; failAt++) {
    const fixture = await healthy(FailingStorage)
    const { storage, change, active, sessionPath, check, repair } = fixture
    change(active, (dict) => void (dict.id = 'x'))
    change(sessionPath, (dict) => void (dict.uuid = 'x'))
    storage.put(fixture.path('.session.json.1.2.tmp'), 'x')
    storage.count = 0
    storage.failAt = failAt
    try {
      await repair()
      if (storage.count < failAt) {
        assert.ok(failAt > 5, `a repair makes ${failAt - 1} calls`)
        break
      }
    } catch (error) {
      checkError(error, 'StorageError', { code: 'ENOSPC' })
    }
    storage.failAt = 0
    const { ok } = (await repair()).check
    assert.equal(ok, true, 'the next repair continues')
    assert.deepEqual((await repair()).actions, [])
    assert.equal((await check()).ok, true)
    await fixture.load()
  }
})

test('a file that another writer changes during the repair is not touched', async () => {
  const { storage, change, active, first, repair } = await healthy()
  for (const file of [active, first]) change(file, (dict) => void (dict._mutation_counter = 0))
  let reads = 0
  storage.before = async (method, path) => {
    if (method === 'read' && path === active && ++reads === 2) storage.put(active, '{"messages": []}')
  }
  await refused(repair, 'ConflictError', { path: active })
  assert.equal(storage.text(active), '{"messages": []}')
  assert.equal(
    [...storage.files.keys()].some((path) => path.endsWith('.bak')),
    false,
  )
})

test('contexts are written before session.json, and each file is copied first', async () => {
  const { storage, change, active, first, sessionPath, repair } = await healthy()
  for (const file of [active, first]) change(file, (dict) => void (dict._mutation_counter = 0))
  change(sessionPath, (dict) => void (dict.active_context_id = 'gone'))
  storage.takeCalls()
  await repair()
  const writes = storage
    .takeCalls()
    .filter((call) => call.startsWith('write '))
    .map((call) => call.slice(6))
  const files = [...[active, first].sort(), sessionPath]
  assert.deepEqual(
    writes.map((path) => path.replace(/\.\d{8}T.*/, '')),
    files.flatMap((path) => [path, path]),
  )
  assert.ok(writes.every((path, index) => path.endsWith('.bak') === (index % 2 === 0)))
})

test('a session whose active context is damaged opens with another one, or with none', async () => {
  const { storage, load: open, active, first, sessionPath, session, cut } = await healthy()
  cut(active, 100)
  const before = bytes(storage)
  await refused(open, 'CorruptSessionError', { path: active })
  const id = first.split('/').at(-1).slice(0, -5)

  const bare = await open({ activeContextId: null })
  assert.equal(bare.activeContext, null)
  assert.equal(bare.activeContextId, session.activeContextId)
  assert.deepEqual((await bare.listContexts()).sort(), [session.activeContextId, id].sort())
  await refused(() => bare.loadContext(session.activeContextId), 'CorruptSessionError', { path: active })
  await bare.save()
  assert.deepEqual(bytes(storage), before)
  const context = await bare.loadContext(id)
  assert.equal(context.messageCount, 7)

  const other = await open({ activeContextId: id })
  assert.equal(other.activeContext.id, id)
  assert.equal(other.activeContextId, id)
  other.activeContext.append(text('goes on'))
  await other.save()
  assert.equal(Buffer.from(storage.files.get(active)).toString('latin1'), before.get(active), 'never overwritten')
  assert.equal(JSON.parse(storage.text(sessionPath)).active_context_id, id)
  assert.equal((await open()).activeContext.messageCount, 8)

  await refused(() => open({ activeContextId: 'gone' }), 'ContextNotFoundError', { id: 'gone' })
  for (const bad of ['', '../x', 5, {}]) {
    await refused(() => open({ activeContextId: bad }), 'InvalidArgumentError', { argument: 'options.activeContextId' })
  }
})

test('a session with a damaged inactive context loads and works', async () => {
  const { storage, load: open, first, cut } = await healthy()
  cut(first, 100)
  const damaged = storage.text(first)
  const session = await open()
  session.activeContext.append(text('x'))
  session.rollingSequenceWindow(1)
  await session.save()
  assert.equal(storage.text(first), damaged)
  await refused(() => session.loadContext(first.split('/').at(-1).slice(0, -5)), 'CorruptSessionError', { path: first })
})

test('the error for a file over the size limit names path, size and option', async () => {
  const { storage, load: open, check, active, first, sessionPath, uuid } = await healthy()
  const size = storage.files.get(active).length
  const details = { path: active, size, limit: size - 1, code: 'ERR_FILE_TOO_LARGE', message: /options\.maxFileBytes/ }
  await refused(() => open({ maxFileBytes: size - 1 }), 'FileTooLargeError', details)
  const session = await open({ maxFileBytes: size })
  const error = { path: first, limit: size }
  await refused(() => session.loadContext(first.split('/').at(-1).slice(0, -5)), 'FileTooLargeError', error)
  await refused(() => open({ maxFileBytes: 10 }), 'FileTooLargeError', { path: sessionPath })
  const tooLarge = (finding) => finding.rule === 'file-too-large' && finding.severity === 'error'
  const { findings } = await check({ maxFileBytes: 10 })
  assert.deepEqual(
    findings.map(({ path }) => path),
    [sessionPath, ...[active, first].sort()],
  )
  assert.ok(findings.every(tooLarge))
  const errors = []
  const list = await Session.list('a', { storage, maxFileBytes: 10, onError: (each) => errors.push(each) })
  assert.deepEqual(
    [list.length, errors.map(({ name, path }) => [name, path])],
    [0, [['FileTooLargeError', sessionPath]]],
  )
  assert.equal((await Session.list('a', { storage }))[0].uuid, uuid)
})

test('a repair of a truncated file keeps its complete values, and no more', async () => {
  const fixture = await healthy()
  const { storage, sessionPath, active, cut, repair, load: open, session } = fixture
  const whole = storage.text(sessionPath)
  cut(sessionPath, whole.indexOf('"value"') + 3)
  assert.equal((await repair()).check.ok, true)
  const { rawDict } = await open()
  const expected = { ...session.rawDict, state_data: {}, is_active: false }
  assert.deepEqual(rawDict, expected, 'an incomplete value is dropped')

  // If the end of the last message is present, all messages are, and the counters must be the original ones.
  const text = storage.text(active)
  cut(active, text.indexOf('"anchor_points"'))
  const { actions } = await repair()
  assert.match(actions[0].message, /^recovered 6 messages/)
  const { activeContext } = await open()
  assert.deepEqual(activeContext.messages, session.activeContext.messages)
  assert.ok(
    activeContext.messages.every(({ _sequence_number }) => _sequence_number < activeContext.rawDict._mutation_counter),
  )

  // NULs after the text, as some file systems leave them, lose nothing.
  storage.put(active, `${text}\0\0\0`)
  await repair()
  assert.deepEqual((await open()).activeContext.rawDict, session.activeContext.rawDict)
})

test('a repair keeps a copy of a complete temporary file', async () => {
  const { storage, path, active, repair } = await healthy()
  const name = `.${active.split('/').at(-1)}.1.2.tmp`
  storage.put(path(name), storage.text(active))
  assert.equal((await repair()).actions[0].copy, undefined, 'the file itself holds the same')
  storage.put(path(name), '{"messages": []}')
  const [{ copy }] = (await repair()).actions
  assert.equal(storage.text(copy), '{"messages": []}')
  assert.equal(storage.files.has(path(name)), false)
})

test('check and repair work on the file system', async (t) => {
  const parent = tempDir(t)
  const session = Session.create(parent)
  session.activeContext.append(text('x'))
  await session.save()
  const directory = session.sessionDir
  const temporary = join(directory, '.session.json.1.00000000-0000-4000-8000-000000000000.tmp')
  writeFileSync(temporary, '{')
  mkdirSync(join(directory, 'x.json'))
  const file = join(directory, `${session.activeContextId}.json`)
  writeFileSync(file, readFileSync(file).subarray(0, 600))
  const before = textsUnder(parent)
  const { findings } = await Session.check(parent, session.uuid)
  assert.deepEqual(textsUnder(parent), before)
  assert.deepEqual(
    findings.map(({ rule }) => rule),
    ['torn-file', 'unreadable-file', 'leftover-file'],
  )
  const { actions, check } = await Session.repair(parent, session.uuid)
  assert.deepEqual(
    actions.map(({ rule }) => rule),
    ['torn-file', 'leftover-file'],
  )
  assert.deepEqual(
    check.findings.map(({ rule }) => rule),
    ['unreadable-file', 'kept-copy'],
  )
  assert.equal((await Session.load(parent, session.uuid)).activeContext.messageCount, 1)
})

test('a changed byte or a truncation of any file is found unless it loads the same, and a repair loses no message', async () => {
  const damages = fc.record({
    file: fc.constantFrom('active', 'first', 'sessionPath'),
    isCut: chance(0.4),
    at: fc.noBias(fc.nat({ max: 100_000 })),
    byte: fc.nat({ max: 255 }),
  })
  const seen = { loaded: 0, corrupt: 0 }
  await forAll(40, damages, async (damage) => {
    const fixture = await healthy()
    const { storage, check, repair, load: open, active, first, sessionPath } = fixture
    const shown = async () => {
      const session = await open()
      const other = await session.loadContext(first.split('/').at(-1).slice(0, -5))
      return JSON.stringify([session.rawDict, session.activeContext?.rawDict, other.rawDict])
    }
    const whole = await shown()
    const file = { active, first, sessionPath }[damage.file]
    const data = storage.files.get(file).slice()
    const at = damage.at % data.length
    storage.put(file, damage.isCut ? data.slice(0, at) : data.with(at, damage.byte))
    const readable = async (path) => {
      try {
        const session = await open({ activeContextId: path.split('/').at(-1).slice(0, -5) })
        // A message that lost its time gets the time of the load.
        return JSON.stringify(session.activeContext.messages.map((message) => ({ ...message, creation_timestamp: '' })))
      } catch (error) {
        assert.match(error.name, /^(CorruptSessionError|ContextNotFoundError)$/)
        return null
      }
    }
    const before = [await readable(active), await readable(first)]
    let loaded = null
    try {
      loaded = await shown()
    } catch (error) {
      assert.match(error.name, /^(CorruptSessionError|ContextNotFoundError)$/)
    }
    const { findings } = await check()
    // A changed letter in a text cannot be detected.
    seen[loaded === null ? 'corrupt' : 'loaded']++
    if (loaded === null)
      assert.ok(
        findings.some(({ severity }) => severity === 'error'),
        file,
      )
    if (loaded === whole)
      assert.deepEqual(
        problems({ findings }).filter(({ severity }) => severity === 'error'),
        [],
      )
    await repair()
    const after = [await readable(active), await readable(first)]
    for (const index of [0, 1]) if (before[index] !== null) assert.equal(after[index], before[index])
    assert.deepEqual((await repair()).actions, [])
  })
  assert.ok(!isUsual || Math.min(seen.loaded, seen.corrupt) > 2, JSON.stringify(seen))
})
