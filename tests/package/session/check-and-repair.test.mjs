// Session.check and Session.repair: a session directory that is broken in one way, seen from outside.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load, root } from '../support/installed.mjs'
import { refused } from '../support/errors.mjs'
import { tempDir, textsUnder } from '../support/files.mjs'
import { chance, fc, forAll, isUsual } from '../support/property.mjs'
import { FailingStorage, RecordingStorage } from '../support/storages.mjs'
import { fileText } from '../support/text.mjs'
import { NO_COUNTS, NO_IDS, text } from '../support/values.mjs'

const { ContentPart, Context, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

/** A session with a window, tool calls, an anchor and state; `first` and `active` are the ids of its two contexts. */
async function healthy(Storage = RecordingStorage) {
  const storage = new Storage()
  const session = Session.create('a', {
    storage,
    systemPromptMessage: SystemPromptMessage.create('Be careful 😀'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'f', description: 'd', parameters: {} }]),
  })
  const context = session.activeContext
  context.append(text('one'))
  context.addAnchor('here', 3)
  context.append(text('two'))
  context.append(Message.create('assistant', [ContentPart.toolUse('call-1', 'f', { a: 1 })]))
  context.append(Message.create('tool_result', [ContentPart.toolResult('call-1', 'ok')]))
  context.append(text('three'))
  session.state.create('name', 'value')
  session.autoApproveTools = ['f']
  const window = session.rollingSequenceWindow(4)
  await session.save()
  const path = (name) => `${session.sessionDir}/${name}`
  return {
    storage,
    session,
    uuid: session.uuid,
    path,
    sessionPath: path('session.json'),
    first: path(`${context.id}.json`),
    active: path(`${window.id}.json`),
    check: (options) => Session.check('a', session.uuid, { storage, ...options }),
    repair: (options) => Session.repair('a', session.uuid, { storage, ...options }),
    load: (options) => Session.load('a', session.uuid, { storage, ...options }),
    /** Writes a file's dict anew, changed. */
    change(file, change) {
      const dict = JSON.parse(storage.text(file))
      storage.put(file, fileText(change(dict) ?? dict))
    },
    cut(file, length) {
      storage.put(file, storage.files.get(file).slice(0, length))
    },
    replace(file, from, to) {
      const whole = storage.text(file)
      assert.ok(whole.includes(from), from)
      storage.put(file, whole.replace(from, to))
    },
  }
}

const bytes = (storage) => new Map([...storage.files].map(([path, data]) => [path, Buffer.from(data).toString('latin1')]))

const problems = ({ findings }) => findings.filter(({ severity }) => severity !== 'info')

test('a session that is as it should be gives no finding, and nothing is written', async () => {
  const { storage, check, repair } = await healthy()
  storage.takeCalls()
  assert.deepEqual(await check(), { ok: true, findings: [] })
  assert.deepEqual(await repair(), { actions: [], check: { ok: true, findings: [] } })
  assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
  assert.ok(Object.isFrozen((await check()).findings))
})

test('the session of the demo, which the Python package has made, gives no finding', async () => {
  const parent = join(root, 'examples', 'demo-session')
  const [{ uuid }] = await Session.list(parent)
  assert.deepEqual(await Session.check(parent, uuid), { ok: true, findings: [] })
})

test('sessions of every kind that this package makes give no finding', async () => {
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

/**
 * The ways to break a session, one for each rule:
 * - `damage(session)`; `file`, by name of the fixture; `field`, `line`, `column` of the finding;
 * - `load`: the class of the error that loading gives, where it is not loaded;
 * - `mends`: whether a repair mends it. `after(session)` looks at what it made.
 */
const CASES = {
  'missing-session-file': {
    damage: ({ storage, sessionPath }) => storage.files.delete(sessionPath),
    file: 'sessionPath',
    load: 'SessionNotFoundError',
    mends: true,
    after: async ({ load, active, uuid }) => {
      const { rawDict } = await load()
      const id = active.split('/').at(-1).slice(0, -5)
      const made = { uuid, active_context_id: id, auto_approve_tools: [], state_data: {}, is_active: false }
      assert.deepEqual(rawDict, made, 'of the newest context')
    },
  },
  'empty-file': {
    damage: ({ storage, active }) => storage.put(active, ''),
    file: 'active',
    line: 1,
    column: 1,
    load: 'CorruptSessionError',
  },
  'nul-bytes': {
    damage: ({ storage, active }) => storage.files.get(active).fill(0),
    file: 'active',
    line: 1,
    column: 1,
    load: 'CorruptSessionError',
  },
  'torn-file': {
    damage: ({ cut, active }) => cut(active, 2500),
    file: 'active',
    load: 'CorruptSessionError',
    mends: true,
    after: async ({ load, wasActive }) => {
      const { activeContext } = await load()
      assert.ok(activeContext.messageCount >= 3)
      assert.deepEqual(activeContext.messages, wasActive.messages.slice(0, activeContext.messageCount))
      assert.deepEqual(activeContext.systemPromptMessage, wasActive.messages[0], 'its class says what it is')
      assert.deepEqual(activeContext.toolDefinitionsMessage, wasActive.messages[1])
      activeContext.append(text('goes on'))
    },
  },
  'non-finite-number': {
    damage: ({ replace, active }) => replace(active, '"content_map": {}', '"content_map": {},\n  "x": -Infinity'),
    file: 'active',
    load: 'CorruptSessionError',
  },
  'not-json': {
    damage: ({ replace, active }) => replace(active, '"messages": [', '"messages": [,'),
    file: 'active',
    line: 2,
    column: 16,
    load: 'CorruptSessionError',
  },
  'wrong-shape': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.messages[3].content = 'text')),
    file: 'active',
    field: 'messages[3].content',
    load: 'CorruptSessionError',
  },
  'uuid-mismatch': {
    damage: ({ change, sessionPath }) => change(sessionPath, (dict) => void (dict.uuid = 'other')),
    file: 'sessionPath',
    field: 'uuid',
    line: 2,
    column: 11,
    load: 'CorruptSessionError',
    mends: true,
  },
  'id-mismatch': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.id = '../x')),
    file: 'active',
    field: 'id',
    load: 'CorruptSessionError',
    mends: true,
  },
  'dangling-active-context': {
    damage: ({ change, sessionPath }) => change(sessionPath, (dict) => void (dict.active_context_id = 'gone')),
    file: 'sessionPath',
    field: 'active_context_id',
    load: 'ContextNotFoundError',
    mends: true,
    after: async ({ load, active }) => assert.ok(active.endsWith(`/${(await load()).activeContextId}.json`)),
  },
  'dangling-child': {
    damage: ({ change, active }) => change(active, (dict) => void dict.children.push('gone')),
    file: 'active',
    field: 'children[0]',
    mends: true,
  },
  'dangling-origin': {
    damage: ({ change, first }) => change(first, (dict) => void (dict.origin_context_id = 'gone')),
    file: 'first',
    field: 'origin_context_id',
    severity: 'info',
  },
  'anchor-out-of-range': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points.at(-1)[1] = 99)),
    file: 'active',
    field: /^anchor_points\[\d\]\[1\]$/,
    mends: true,
    after: async ({ load, wasActive }) => {
      assert.deepEqual((await load()).activeContext.anchorPoints, wasActive.anchorPoints)
    },
  },
  'anchors-not-ascending': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points[0][1] = 3)),
    file: 'active',
    field: 'anchor_points[1][1]',
  },
  'duplicate-anchor': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points[1][0] = 'system_prompt')),
    file: 'active',
    field: 'anchor_points[1][0]',
  },
  'counter-lags': {
    damage: ({ change, active }) => change(active, (dict) => void (dict._mutation_counter = 2)),
    file: 'active',
    field: '_mutation_counter',
    mends: true,
    after: async ({ load, wasActive }) => assert.deepEqual((await load()).activeContext.rawDict, wasActive.rawDict),
  },
  'duplicate-message-id': {
    damage: ({ change, active }) => change(active, ({ messages }) => void (messages[3].id = messages[2].id)),
    file: 'active',
    field: 'messages[3].id',
  },
  'duplicate-sequence-number': {
    damage: ({ change, active }) =>
      change(active, ({ messages }) => void (messages[3]._sequence_number = messages[2]._sequence_number)),
    file: 'active',
    field: 'messages[3]._sequence_number',
  },
  'dangling-special-message': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.system_prompt_message_id = 'gone')),
    file: 'active',
    field: 'system_prompt_message_id',
    mends: true,
  },
  'misplaced-special-message': {
    damage: ({ change, active }) =>
      change(active, (dict) => void (dict.system_prompt_message_id = dict.messages.at(-1).id)),
    file: 'active',
    field: 'system_prompt_message_id',
  },
  'call-without-result': {
    // A call is pending until the assistant speaks again.
    damage: ({ change, active }) =>
      change(active, ({ messages }) => {
        messages.at(-2).content = []
        messages.at(-1).role = 'assistant'
      }),
    file: 'active',
    field: /^messages\[\d\]\.content\[0\]\.call_id$/,
  },
  'result-without-call': {
    damage: ({ change, active }) => change(active, ({ messages }) => void (messages.at(-3).content = [])),
    file: 'active',
    field: /^messages\[\d\]\.content\[0\]\.call_id$/,
  },
  'lone-surrogate': {
    damage: ({ replace, active }) => replace(active, '"text": "two"', '"text": "t\\ud83dwo"'),
    file: 'active',
    field: 'messages[2].content[0].text',
    mends: true,
    after: async ({ load }) => assert.equal((await load()).activeContext.messages[2].content[0].text, 't\ufffdwo'),
  },
  'duplicate-key': {
    damage: ({ replace, active }) => replace(active, '"text": "two"', '"text": "first",\n          "text": "last"'),
    file: 'active',
    field: 'messages[2].content[0].text',
    mends: true,
    after: async ({ load }) => assert.equal((await load()).activeContext.messages[2].content[0].text, 'last'),
  },
  'byte-order-mark': {
    damage: ({ storage, active }) => storage.put(active, `\ufeff${storage.text(active)}`),
    file: 'active',
    line: 1,
    column: 1,
    mends: true,
  },
  'leftover-file': {
    damage: ({ storage, leftover }) => storage.put(leftover, '{"messages": [{"id'),
    file: 'leftover',
    mends: true,
    isRemoved: true,
  },
  'kept-copy': {
    damage: ({ storage, copy }) => storage.put(copy, '{'),
    file: 'copy',
    severity: 'info',
  },
  'other-file': {
    damage: ({ storage, other }) => storage.put(other, 'x'),
    file: 'other',
    severity: 'info',
  },
}

for (const [rule, { damage, file, load: loads, mends = false, after, isRemoved, severity, ...place }] of Object.entries(CASES)) {
  test(`${rule}: reported, loaded as documented${mends ? ', mended' : ''}`, async () => {
    const fixture = await healthy()
    const { storage, check, repair, load: open } = fixture
    Object.assign(fixture, {
      wasActive: fixture.session.activeContext,
      leftover: fixture.path('.session.json.4711.0b9f7c1a-0000-4000-8000-000000000000.tmp'),
      copy: fixture.path('session.json.20260102T030405.000006.bak'),
      other: fixture.path('notes.txt'),
    })
    damage(fixture)
    const before = bytes(storage)
    storage.takeCalls()
    const { ok, findings } = await check()
    assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
    assert.deepEqual(bytes(storage), before)
    assert.deepEqual(findings.map((finding) => finding.rule), [rule])
    const [finding] = findings
    assert.equal(finding.path, fixture[file])
    assert.equal(finding.severity, severity ?? (loads === undefined ? 'warning' : 'error'))
    assert.equal(ok, severity === 'info')
    assert.equal(finding.repairable, mends)
    assert.ok(finding.message.length > 20 && !/undefined|\[object/.test(finding.message), finding.message)
    for (const [key, expected] of Object.entries(place)) {
      if (expected instanceof RegExp) assert.match(finding[key], expected)
      else assert.equal(finding[key], expected, key)
    }

    if (loads === undefined) await open()
    else {
      const error = await refused(open, loads)
      if (loads === 'CorruptSessionError') {
        assert.deepEqual([error.path, error.line, error.column], [finding.path, finding.line, finding.column])
        assert.equal(error.field, finding.field ?? null)
      }
    }
    assert.deepEqual(bytes(storage), before)

    const { actions, check: left } = await repair()
    const now = bytes(storage)
    if (!mends) {
      assert.deepEqual(actions, [])
      assert.deepEqual(now, before)
      assert.deepEqual(left, { ok, findings })
      return
    }
    assert.deepEqual(actions.map((action) => [action.rule, action.path]), [[rule, fixture[file]]])
    assert.ok(actions[0].message.length > 10)
    assert.deepEqual(problems(left), [])
    assert.equal(left.ok, true)
    assert.deepEqual(await check(), left)
    const { copy } = actions[0]
    if (isRemoved) assert.equal(now.has(fixture[file]), false)
    else assert.notEqual(now.get(fixture[file]), before.get(fixture[file]))
    assert.equal(copy !== undefined, before.has(fixture[file]) && !isRemoved)
    if (copy !== undefined) {
      assert.match(copy, /\.json\.\d{8}T\d{6}\.\d{6}\.bak$/)
      assert.equal(now.get(copy), before.get(fixture[file]))
    }
    for (const [path, data] of before) if (path !== fixture[file]) assert.equal(now.get(path), data, path)
    assert.equal(now.size, before.size + (copy === undefined ? 0 : 1) + (rule === 'missing-session-file' ? 1 : 0) - (isRemoved ? 1 : 0))
    const again = await open()
    assert.ok(!(await again.listContexts()).some((id) => id.includes('bak')))
    await after?.(fixture)

    storage.takeCalls()
    assert.deepEqual((await repair()).actions, [])
    assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
  })
}

test('the table has every rule of the types', () => {
  const types = readFileSync(join(root, 'js', 'session', 'findings.ts'), 'utf8')
  const union = /export type FindingRule =([^=]*?)\n\n/.exec(types)[1]
  const rules = [...union.matchAll(/\| '([a-z-]+)'/g)].map(([, rule]) => rule).sort()
  // The storage has to fail for one, the limit to be set for the other: they have tests of their own.
  assert.deepEqual([...Object.keys(CASES), 'unreadable-file', 'file-too-large'].sort(), rules)
  const documented = readFileSync(join(root, 'docs', 'damage.md'), 'utf8')
  for (const rule of rules) assert.ok(documented.includes(`| \`${rule}\` |`), rule)
})

test('one file that cannot be read hides nothing of the others', async () => {
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
  assert.deepEqual(findings.map(({ path, rule, repairable }) => [path, rule, repairable]), expected)
  assert.match(findings.find(({ rule }) => rule === 'unreadable-file').message, /EIO: i\/o error/)
  assert.deepEqual((await repair()).actions.map(({ rule }) => rule), ['counter-lags'])
})

test('many findings of many files, in one order', async () => {
  const fixture = await healthy()
  const { storage, change, cut, first, active, sessionPath, path, check } = fixture
  change(sessionPath, (dict) => void Object.assign(dict, { uuid: 'x', active_context_id: 'gone' }))
  cut(first, 3)
  change(active, (dict) => void Object.assign(dict, { _mutation_counter: 0, message_sequence: 0, children: ['a', 'b'] }))
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
    [[sessionPath, 'uuid-mismatch'], [sessionPath, 'dangling-active-context'], ...inContexts, [path('notes.txt'), 'other-file']],
  )
  assert.deepEqual((await check()).findings, findings)
  const shuffled = new RecordingStorage()
  for (const [name, data] of [...storage.files].reverse()) shuffled.put(name, data)
  assert.deepEqual((await Session.check('a', fixture.uuid, { storage: shuffled })).findings, findings)
})

test('errors: nothing there, arguments, a storage that fails at every call', async () => {
  const storage = new RecordingStorage()
  for (const work of [Session.check, Session.repair]) {
    await refused(() => work('a', 'x', { storage }), 'SessionNotFoundError', { path: 'a/x/session.json' })
    for (const uuid of NO_IDS) await refused(() => work('a', uuid, { storage }), 'InvalidArgumentError', { argument: 'uuid' })
    await refused(() => work('a', 'x', { storage, maxBytes: 1 }), 'InvalidArgumentError', { argument: 'options.maxBytes' })
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
      if (storage.count < failAt) break
    } catch (error) {
      assert.equal(error.name, 'StorageError')
      assert.equal(error.code, 'ENOSPC')
    }
    storage.failAt = 0
    const { ok } = (await repair()).check
    assert.equal(ok, true, 'the next one goes on')
    assert.deepEqual((await repair()).actions, [])
    assert.equal((await check()).ok, true)
    await fixture.load()
  }
})

test('a file that somebody changes during the repair is not touched', async () => {
  const { storage, change, active, first, repair } = await healthy()
  for (const file of [active, first]) change(file, (dict) => void (dict._mutation_counter = 0))
  let reads = 0
  storage.before = async (method, path) => {
    if (method === 'read' && path === active && ++reads === 2) storage.put(active, '{"messages": []}')
  }
  await refused(repair, 'ConflictError', { path: active })
  assert.equal(storage.text(active), '{"messages": []}')
  assert.equal([...storage.files.keys()].some((path) => path.endsWith('.bak')), false)
})

test('contexts are written before session.json, and each file is copied before', async () => {
  const { storage, change, active, first, sessionPath, repair } = await healthy()
  for (const file of [active, first]) change(file, (dict) => void (dict._mutation_counter = 0))
  change(sessionPath, (dict) => void (dict.active_context_id = 'gone'))
  storage.takeCalls()
  await repair()
  const writes = storage.takeCalls().filter((call) => call.startsWith('write ')).map((call) => call.slice(6))
  const files = [...[active, first].sort(), sessionPath]
  assert.deepEqual(writes.map((path) => path.replace(/\.\d{8}T.*/, '')), files.flatMap((path) => [path, path]))
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
  assert.equal(Buffer.from(storage.files.get(active)).toString('latin1'), before.get(active), 'never written over')
  assert.equal(JSON.parse(storage.text(sessionPath)).active_context_id, id)
  assert.equal((await open()).activeContext.messageCount, 8)

  await refused(() => open({ activeContextId: 'gone' }), 'ContextNotFoundError', { id: 'gone' })
  for (const bad of ['', '../x', 5, {}]) {
    await refused(() => open({ activeContextId: bad }), 'InvalidArgumentError', { argument: 'options.activeContextId' })
  }
})

test('a session whose other context is damaged loads, and goes on', async () => {
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

test('files beyond the limit of size are refused by path, size and option', async () => {
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
  assert.deepEqual(findings.map(({ path }) => path), [sessionPath, ...[active, first].sort()])
  assert.ok(findings.every(tooLarge))
  const errors = []
  const list = await Session.list('a', { storage, maxFileBytes: 10, onError: (each) => errors.push(each) })
  assert.deepEqual([list.length, errors.map(({ name, path }) => [name, path])], [0, [['FileTooLargeError', sessionPath]]])
  assert.equal((await Session.list('a', { storage }))[0].uuid, uuid)
})

test('what a torn file held for certain is kept, and no more', async () => {
  const fixture = await healthy()
  const { storage, sessionPath, active, cut, repair, load: open, session } = fixture
  const whole = storage.text(sessionPath)
  cut(sessionPath, whole.indexOf('"value"') + 3)
  assert.equal((await repair()).check.ok, true)
  const { rawDict } = await open()
  const expected = { ...session.rawDict, state_data: {}, is_active: false }
  assert.deepEqual(rawDict, expected, 'the half of a value is not one')

  // With the end of the last message there, all of them are; the counters have to be those that they were.
  const text = storage.text(active)
  cut(active, text.indexOf('"anchor_points"'))
  const { actions } = await repair()
  assert.match(actions[0].message, /^6 messages recovered/)
  const { activeContext } = await open()
  assert.deepEqual(activeContext.messages, session.activeContext.messages)
  assert.ok(activeContext.messages.every(({ _sequence_number }) => _sequence_number < activeContext.rawDict._mutation_counter))

  // NULs after the text, as some file systems leave them, take nothing away.
  storage.put(active, `${text}\0\0\0`)
  await repair()
  assert.deepEqual((await open()).activeContext.rawDict, session.activeContext.rawDict)
})

test('of a temporary file that is whole a copy is kept', async () => {
  const { storage, path, active, repair } = await healthy()
  const name = `.${active.split('/').at(-1)}.1.2.tmp`
  storage.put(path(name), storage.text(active))
  assert.equal((await repair()).actions[0].copy, undefined, 'the file itself holds the same')
  storage.put(path(name), '{"messages": []}')
  const [{ copy }] = (await repair()).actions
  assert.equal(storage.text(copy), '{"messages": []}')
  assert.equal(storage.files.has(path(name)), false)
})

test('on a disk', async (t) => {
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
  assert.deepEqual(findings.map(({ rule }) => rule), ['torn-file', 'unreadable-file', 'leftover-file'])
  const { actions, check } = await Session.repair(parent, session.uuid)
  assert.deepEqual(actions.map(({ rule }) => rule), ['torn-file', 'leftover-file'])
  assert.deepEqual(check.findings.map(({ rule }) => rule), ['unreadable-file', 'kept-copy'])
  assert.equal((await Session.load(parent, session.uuid)).activeContext.messageCount, 1)
})

test('any damage of one byte, or cut, of any file: found, or loaded the same; a repair loses no message', async () => {
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
        // A message that has lost its time gets that of the load.
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
    // A changed letter of a text is damage that nothing can find.
    seen[loaded === null ? 'corrupt' : 'loaded']++
    if (loaded === null) assert.ok(findings.some(({ severity }) => severity === 'error'), file)
    if (loaded === whole) assert.deepEqual(problems({ findings }).filter(({ severity }) => severity === 'error'), [])
    await repair()
    const after = [await readable(active), await readable(first)]
    for (const index of [0, 1]) if (before[index] !== null) assert.equal(after[index], before[index])
    assert.deepEqual((await repair()).actions, [])
  })
  assert.ok(!isUsual || Math.min(seen.loaded, seen.corrupt) > 2, JSON.stringify(seen))
})
