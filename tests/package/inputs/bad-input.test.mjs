// Bad input: a typed error that names what is at fault, and everything as it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { refused, refusedNow } from '../support/errors.mjs'
import { forSeeds } from '../support/random.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { fileText } from '../support/text.mjs'
import { NO_COUNTS, NO_IDS, NO_STRINGS, nested, nestedText, shown, text } from '../support/values.mjs'

const { Context, ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

function example() {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage, systemPromptMessage: SystemPromptMessage.create('s') })
  session.activeContext.append(text('1'))
  session.activeContext.append(text('2'))
  return { storage, session, context: session.activeContext }
}

/** Runs `work`, and asserts that the session and its active context are the same after it, and still work. */
async function unchanged({ session, context }, work) {
  const before = [session.rawDict, context.rawDict, context.messages]
  await work()
  assert.deepEqual([session.rawDict, context.rawDict, context.messages], before)
  assert.equal(session.activeContext, context)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage: session.storage })
  assert.deepEqual(again.activeContext.rawDict, context.rawDict)
  assert.equal(again.rollingSequenceWindow(1).messageCount, 2)
}

test('counts and budgets', async () => {
  const all = example()
  const { session, context } = all
  await unchanged(all, () => {
    for (const value of NO_COUNTS) {
      for (const owner of [session, context]) {
        refusedNow(
          () => owner.rollingSequenceWindow(value),
          'InvalidArgumentError',
          { argument: 'count', message: /count: expected a whole number/ },
          shown(value),
        )
        refusedNow(
          () => owner.rollingTokenWindow(value),
          'InvalidArgumentError',
          { argument: 'maxTokens', message: /maxTokens: expected a whole number/ },
          shown(value),
        )
      }
      refusedNow(() => context.planSequenceWindow(value), 'InvalidArgumentError', { argument: 'count' }, shown(value))
      refusedNow(() => context.planTokenWindow(value), 'InvalidArgumentError', { argument: 'maxTokens' }, shown(value))
      refusedNow(() => context.addAnchor('n', value), 'InvalidArgumentError', { argument: 'index' }, shown(value))
    }
    refusedNow(() => context.rollingSequenceWindow(-3), 'InvalidArgumentError', { message: /-3/ })
    refusedNow(() => context.rollingSequenceWindow(NaN), 'InvalidArgumentError', { message: /NaN/ })
    refusedNow(() => context.rollingSequenceWindow('5'), 'InvalidArgumentError', { message: /"5"/ })
  })
})

test('ranges of a fork', async () => {
  const all = example()
  await unchanged(all, () => {
    for (const value of NO_COUNTS.filter((value) => value !== -1 && value !== undefined && value !== null)) {
      refusedNow(
        () => all.context.fork({ start: value }),
        'InvalidArgumentError',
        { argument: 'options.start' },
        shown(value),
      )
      refusedNow(
        () => all.context.fork({ end: value }),
        'InvalidArgumentError',
        { argument: 'options.end' },
        shown(value),
      )
    }
  })
})

test('names, anchors and flags', async () => {
  const all = example()
  const { session, context } = all
  await unchanged(all, () => {
    for (const value of NO_STRINGS) {
      refusedNow(
        () => context.append(text('x'), value),
        'InvalidArgumentError',
        { argument: 'anchorPoint' },
        shown(value),
      )
      refusedNow(() => context.addAnchor(value, 0), 'InvalidArgumentError', { argument: 'name' }, shown(value))
      refusedNow(() => session.state.get(value), 'InvalidArgumentError', { argument: 'name' }, shown(value))
    }
    for (const value of [null, 0, 1, 'yes', {}, [], 5n]) {
      refusedNow(
        () => context.addAnchor('n', 0, { afterExisting: value }),
        'InvalidArgumentError',
        { argument: 'options.afterExisting' },
        shown(value),
      )
      refusedNow(() => (session.isActive = value), 'InvalidArgumentError', { argument: 'isActive' }, shown(value))
    }
    for (const value of [null, undefined, 'abc', 5, {}, ['a', 1], [null], [['a']], new Set(['a']), Symbol('x')]) {
      refusedNow(
        () => (session.autoApproveTools = value),
        'InvalidArgumentError',
        { argument: /^autoApproveTools/ },
        shown(value),
      )
    }
    for (const value of [null, undefined, {}, 'x', 5, context.rawDict, session, Context]) {
      refusedNow(() => session.setActiveContext(value), 'InvalidArgumentError', { argument: 'context' }, shown(value))
    }
    refusedNow(() => Context.create({ parentContext: {} }), 'InvalidArgumentError', {
      argument: 'options.parentContext',
    })
  })
})

test('options that are no objects are no TypeError', async () => {
  const { context } = example()
  const storage = new RecordingStorage()
  const calls = {
    'Session.create': (options) => Session.create('a', options),
    'Session.load': (options) => Session.load('a', 'none', options),
    'Session.list': (options) => Session.list('a', options),
    'Context.create': (options) => Context.create(options),
    fork: (options) => context.fork(options),
    addAnchor: (options) => context.addAnchor(`n${Math.random()}`, 0, options),
    rollingSequenceWindow: (options) => context.rollingSequenceWindow(99, options),
  }
  for (const [name, call] of Object.entries(calls)) {
    for (const options of [null, 'x', 5, true]) {
      try {
        await call(options)
      } catch (error) {
        assert.ok(
          ['InvalidArgumentError', 'SessionNotFoundError'].includes(error.name),
          `${name}(${options}): ${error}`,
        )
      }
    }
  }
  await refused(
    () => Session.list('a', { storage: new RecordingStorage({ 'a/x/session.json': '' }), onError: 'x' }),
    'InvalidArgumentError',
    { argument: 'options.onError' },
  )
  void storage
})

test('options that are not known are refused by name: a misspelt one is not passed over', async () => {
  const { session, context } = example()
  const storage = new RecordingStorage()
  const prompt = SystemPromptMessage.create('x')
  const calls = [
    [() => Session.create('a', { storage, systemPrompt: prompt }), 'options.systemPrompt'],
    [() => Session.load('a', 's', { store: storage }), 'options.store'],
    [() => Session.list('a', { storage, onerror: () => {} }), 'options.onerror'],
    [() => Context.create({ toolDefinitions: prompt }), 'options.toolDefinitions'],
    [() => context.fork({ begin: 1 }), 'options.begin'],
    [() => context.addAnchor('n', 0, { after: true }), 'options.after'],
    [() => session.rollingSequenceWindow(1, { Boundary: 'message' }), 'options.Boundary'],
  ]
  for (const [call, argument] of calls) await refused(call, 'InvalidArgumentError', { argument }, argument)
  assert.deepEqual([session.activeContext, context.children], [context, []])
})

test('options that an object has from its prototype are options', async () => {
  const storage = new RecordingStorage()
  const defaults = Object.create({ storage, systemPromptMessage: SystemPromptMessage.create('x') })
  const session = Session.create('a', defaults)
  assert.equal(session.storage, storage)
  assert.equal(session.activeContext.systemPromptMessage?.content[0].text, 'x')
  class Config {
    get storage() {
      return storage
    }
  }
  assert.equal(Session.create('a', new Config()).storage, storage)
})

test('parent directories and uuids that are no text', async () => {
  const storage = new RecordingStorage()
  for (const value of [...NO_STRINGS, undefined, 'a\0b']) {
    refusedNow(
      () => Session.create(value, { storage }),
      'InvalidArgumentError',
      { argument: 'parentDir' },
      shown(value),
    )
    await refused(
      () => Session.load(value, 's', { storage }),
      'InvalidArgumentError',
      { argument: 'parentDir' },
      shown(value),
    )
    await refused(
      () => Session.list(value, { storage }),
      'InvalidArgumentError',
      { argument: 'parentDir' },
      shown(value),
    )
  }
  for (const value of [...NO_STRINGS, undefined]) {
    await refused(
      () => Session.load('a', value, { storage }),
      'InvalidArgumentError',
      { argument: 'uuid' },
      shown(value),
    )
  }
  assert.deepEqual(storage.calls, [])
})

test('ids that are no plain file name, as arguments: nothing is read', async () => {
  const { session, storage } = example()
  storage.takeCalls()
  for (const id of NO_IDS) {
    await refused(() => Session.load('a', id, { storage }), 'InvalidArgumentError', { argument: 'uuid' }, shown(id))
    await refused(() => session.loadContext(id), 'InvalidArgumentError', { argument: 'id' }, shown(id))
    refusedNow(() => Context.fromDict({ id }), 'InvalidArgumentError', { argument: 'dict.id' }, shown(id))
    refusedNow(
      () => (session.activeContext.rawDict = { ...session.activeContext.rawDict, id }),
      'InvalidArgumentError',
      { argument: 'rawDict.id' },
      shown(id),
    )
    if (id !== '') {
      refusedNow(
        () => (session.rawDict = { ...session.rawDict, active_context_id: id }),
        'InvalidArgumentError',
        { argument: 'rawDict.active_context_id' },
        shown(id),
      )
    }
    refusedNow(
      () => (session.rawDict = { ...session.rawDict, uuid: id }),
      'InvalidArgumentError',
      { argument: 'rawDict.uuid' },
      shown(id),
    )
  }
  for (const value of [...NO_STRINGS, undefined])
    await refused(() => session.loadContext(value), 'InvalidArgumentError', { argument: 'id' }, shown(value))
  await refused(() => session.loadContext('session'), 'InvalidArgumentError', { argument: 'id' })
  await refused(() => session.loadContext('SESSION'), 'InvalidArgumentError', { argument: 'id' })
  refusedNow(() => Context.fromDict({ id: 'session' }), 'InvalidArgumentError', { argument: 'dict.id' })
  assert.deepEqual(storage.calls, [])
})

test('ids that are no plain file name, in files: nothing outside is read', async () => {
  for (const id of NO_IDS) {
    if (id !== '') {
      const storage = new RecordingStorage({ 'a/s/session.json': fileText({ uuid: 's', active_context_id: id }) })
      await refused(
        () => Session.load('a', 's', { storage }),
        'CorruptSessionError',
        { path: 'a/s/session.json', field: 'active_context_id', line: 3, column: 24 },
        shown(id),
      )
      assert.deepEqual(storage.calls, ['read a/s/session.json'])
    }
    const named = new RecordingStorage({ 'a/s/session.json': fileText({ active_context_id: null, uuid: id }) })
    await refused(
      () => Session.load('a', 's', { storage: named }),
      'CorruptSessionError',
      { path: 'a/s/session.json', field: 'uuid', line: 3, column: 11 },
      shown(id),
    )
    const context = new RecordingStorage({
      'a/s/session.json': '{"active_context_id": "c"}',
      'a/s/c.json': fileText({ messages: [], id }),
    })
    await refused(
      () => Session.load('a', 's', { storage: context }),
      'CorruptSessionError',
      { path: 'a/s/c.json', field: 'id', line: 3, column: 9 },
      shown(id),
    )
  }
})

test('a file that is that of another session or context', async () => {
  const other = new RecordingStorage({ 'a/s/session.json': fileText({ uuid: 'other' }) })
  await refused(() => Session.load('a', 's', { storage: other }), 'CorruptSessionError', {
    field: 'uuid',
    message: /"s".*other/,
  })
  const context = new RecordingStorage({
    'a/s/session.json': '{"active_context_id": "c"}',
    'a/s/c.json': fileText({ id: 'd' }),
  })
  await refused(() => Session.load('a', 's', { storage: context }), 'CorruptSessionError', {
    field: 'id',
    message: /c.*d/,
  })
})

const WHOLE = fileText({ id: 'c', messages: [{ id: 'm', role: 'user', content: [{ type: 'text', text: 'é' }] }] })

/** Texts that are no JSON, with the line and column of the fault; columns count bytes. */
const NO_JSON = [
  ['', 1, 1],
  ['   ', 1, 4],
  ['\n\n', 3, 1],
  ['{', 1, 2],
  ['{"a"', 1, 5],
  ['{"a": ', 1, 7],
  ['{"a": 1', 1, 8],
  ['{"a": 1,}', 1, 9],
  ['{"a" 1}', 1, 6],
  ['{a: 1}', 1, 2],
  ["{'a': 1}", 1, 2],
  ['{"a": 1}}', 1, 9],
  ['{"a": 1} x', 1, 10],
  ['{"a": 01}', 1, 8],
  ['{"a": .5}', 1, 7],
  ['{"a": 1.}', 1, 9],
  ['{"a": +1}', 1, 7],
  ['{"a": NaN}', 1, 7],
  ['{"a": Infinity}', 1, 7],
  ['{"a": tru}', 1, 7],
  ['{"a": "x', 1, 9],
  ['{"a": "\\x"}', 1, 8],
  ['{"a": "\\u12g4"}', 1, 8],
  ['{"a": "\t"}', 1, 8],
  ['{"a": "é\n"}', 1, 10],
  ['{\n  "a": 1,\n  "b": [1, 2\n}', 4, 1],
  ['\0'.repeat(64), 1, 1],
  ['// comment\n{}', 1, 1],
  ['{}\0', 1, 3],
  ['\ufeff', 1, 1],
  ['\ufeff\ufeff{}', 1, 1],
  ['<html>', 1, 1],
]

test('files that are empty, torn or no JSON: path, line and column', async () => {
  for (const [content, line, column] of NO_JSON) {
    const expected = { line, column, code: 'ERR_CORRUPT_SESSION', field: null }
    const storage = new RecordingStorage({ 'a/s/session.json': content })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { ...expected, path: 'a/s/session.json', message: new RegExp(`a/s/session.json:${line}:${column}`) },
      shown(content),
    )
    assert.equal(storage.text('a/s/session.json'), content, 'the file is left as it is')
    const context = new RecordingStorage({ 'a/s/session.json': '{"active_context_id": "c"}', 'a/s/c.json': content })
    await refused(
      () => Session.load('a', 's', { storage: context }),
      'CorruptSessionError',
      { ...expected, path: 'a/s/c.json' },
      shown(content),
    )
    const session = Session.create('a', { storage: context })
    context.put(`${session.sessionDir}/c.json`, content)
    await refused(() => session.loadContext('c'), 'CorruptSessionError', expected, shown(content))
  }
})

test('a file that is torn at any byte is corrupt, never a trap', async () => {
  const bytes = new TextEncoder().encode(WHOLE.replace('\\u00e9', 'é'))
  for (let length = 0; length < bytes.length; length++) {
    const storage = new RecordingStorage({
      'a/s/session.json': '{"active_context_id": "c"}',
      'a/s/c.json': bytes.slice(0, length),
    })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { path: 'a/s/c.json' },
      `${length} bytes`,
    )
  }
})

test('a file with any byte changed loads or is corrupt, never a trap', async () => {
  const bytes = new TextEncoder().encode(
    fileText({ ...JSON.parse(WHOLE), anchor_points: [['messages', 1]], _mutation_counter: 4, children: [] }),
  )
  await forSeeds(600, async (random) => {
    const data = bytes.slice()
    for (let change = random.integer(1, 3); change > 0; change--)
      data[random.integer(0, data.length - 1)] = random.integer(0, 255)
    const storage = new RecordingStorage({ 'a/s/session.json': '{"active_context_id": "c"}', 'a/s/c.json': data })
    try {
      const { activeContext } = await Session.load('a', 's', { storage })
      activeContext.append(text('x'))
      activeContext.fork()
      activeContext.rollingSequenceWindow(1)
    } catch (error) {
      assert.ok(['CorruptSessionError', 'InvalidArgumentError'].includes(error.name), `${error.name}: ${error.message}`)
    }
  })
})

test('a file that is no UTF-8', async () => {
  for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xc0, 0x80]]) {
    const data = Uint8Array.from([...new TextEncoder().encode('{\n"é": "'), ...bad, ...new TextEncoder().encode('"}')])
    const storage = new RecordingStorage({ 'a/s/session.json': data })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { line: 2, column: 8, field: null },
      String(bad),
    )
  }
  const utf16 = new RecordingStorage({ 'a/s/session.json': new Uint8Array(Buffer.from('\ufeff{}', 'utf16le')) })
  await refused(() => Session.load('a', 's', { storage: utf16 }), 'CorruptSessionError', { line: 1, column: 1 })
})

test('session files of the wrong shape: the field, line and column', async () => {
  const cases = {
    uuid: [5, null, [], {}, true, ''],
    active_context_id: [5, [], {}, true],
    auto_approve_tools: [5, null, {}, 'x', [1], [null], [['a']], true],
    state_data: [5, null, [], 'x', true],
    is_active: [0, 1, null, 'true', [], {}],
  }
  for (const [field, values] of Object.entries(cases)) {
    for (const value of values) {
      const storage = new RecordingStorage({ 'a/s/session.json': fileText({ other: 1, [field]: value }) })
      await refused(
        () => Session.load('a', 's', { storage }),
        'CorruptSessionError',
        { path: 'a/s/session.json', field, line: 3, column: 3 + `"${field}": `.length, message: new RegExp(field) },
        `${field}: ${shown(value)}`,
      )
    }
  }
  for (const value of [null, true, 5, 'x', []]) {
    const storage = new RecordingStorage({ 'a/s/session.json': `\n ${JSON.stringify(value)}` })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { line: 2, column: 2, message: /object/ },
      shown(value),
    )
  }
})

test('context files of the wrong shape: the field, line and column', async () => {
  const cases = [
    [{ messages: 5 }, 'messages'],
    [{ messages: null }, 'messages'],
    [{ messages: {} }, 'messages'],
    [{ messages: [5] }, 'messages[0]'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [{}, []] }, 'messages[1]'],
    [{ messages: [{ role: 5 }] }, 'messages[0].role'],
    [{ messages: [{ id: 5 }] }, 'messages[0].id'],
    [{ messages: [{ _type: null }] }, 'messages[0]._type'],
    [{ messages: [{ _hook_ids: 5 }] }, 'messages[0]._hook_ids'],
    [{ messages: [{ _hook_ids: [5] }] }, 'messages[0]._hook_ids'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].content'],
    [{ messages: [{ content: {} }] }, 'messages[0].content'],
    [{ messages: [{ content: [{ type: 'text' }, 'x'] }] }, 'messages[0].content[1]'],
    [{ messages: [{ content: [{}] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ content: [{ type: 5 }] }] }, 'messages[0].content[0].type'],
    [{ id: 5 }, 'id'],
    [{ id: null }, 'id'],
    [{ id: [] }, 'id'],
    [{ content_map: [] }, 'content_map'],
    [{ content_map: 5 }, 'content_map'],
    [{ anchor_points: {} }, 'anchor_points'],
    [{ anchor_points: [5] }, 'anchor_points[0]'],
    [{ anchor_points: [['a', 0], ['b']] }, 'anchor_points[1]'],
    [{ anchor_points: [['a', -1]] }, 'anchor_points[0]'],
    [{ anchor_points: [['a', 1.5]] }, 'anchor_points[0]'],
    [{ anchor_points: [[0, 'a']] }, 'anchor_points[0]'],
    [{ anchor_points: [['a', 1, 2]] }, 'anchor_points[0]'],
    [{ anchor_points: [['a', 1e30]] }, 'anchor_points[0]'],
    [{ message_sequence: -1 }, 'message_sequence'],
    [{ message_sequence: 'x' }, 'message_sequence'],
    [{ message_sequence: 1e300 }, 'message_sequence'],
    [{ _mutation_counter: -1 }, '_mutation_counter'],
    [{ _mutation_counter: 1.5 }, '_mutation_counter'],
    [{ _mutation_counter: null }, '_mutation_counter'],
    [{ children: {} }, 'children'],
    [{ children: [5] }, 'children'],
    [{ origin_context_id: 5 }, 'origin_context_id'],
    [{ system_prompt_message_id: 5 }, 'system_prompt_message_id'],
    [{ tool_definitions_message_id: [] }, 'tool_definitions_message_id'],
    [{ _anchor_sequences: 5 }, '_anchor_sequences'],
    [{ _anchor_sequences: [-1] }, '_anchor_sequences'],
  ]
  for (const [fields, field] of cases) {
    const source = fileText({ other: 'é', ...fields })
    const storage = new RecordingStorage({ 'a/s/session.json': '{"active_context_id": "c"}', 'a/s/c.json': source })
    const error = await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { path: 'a/s/c.json', field },
      JSON.stringify(fields),
    )
    assert.ok(error.message.startsWith(`a/s/c.json:${error.line}:${error.column}: ${field}: `), error.message)
    const line = source.split('\n')[error.line - 1]
    const key = field.split('.').at(-1).replace(/\[.*/, '')
    const at = line.slice(error.column - 1)
    assert.ok(
      error.line >= 3 && (/\]$|type$/.test(field) || line.startsWith(`"${key}": `, line.search(/\S/))),
      `${field} at ${error.line}:${error.column} ${at}`,
    )
    // The same from a dict that a caller hands in.
    refusedNow(
      () => Context.fromDict(fields),
      'InvalidArgumentError',
      { argument: `dict.${field}` },
      JSON.stringify(fields),
    )
  }
  for (const value of [null, true, 5, 'x', []]) {
    const storage = new RecordingStorage({
      'a/s/session.json': '{"active_context_id": "c"}',
      'a/s/c.json': `\n ${JSON.stringify(value)}`,
    })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { path: 'a/s/c.json', line: 2, column: 2 },
      shown(value),
    )
  }
})

test('dicts that are no objects', () => {
  for (const value of [
    null,
    undefined,
    true,
    5,
    5n,
    'x',
    '{}',
    [],
    [[]],
    Symbol('x'),
    () => ({}),
    new Map(),
    new Set(),
    new Date(),
    NaN,
    Context,
  ]) {
    refusedNow(() => Context.fromDict(value), 'InvalidArgumentError', { argument: 'dict' }, shown(value))
  }
})

test('counters at the end of what can be counted', () => {
  const last = Number.MAX_SAFE_INTEGER
  const context = Context.fromDict({ id: 'c', messages: [], message_sequence: last, _mutation_counter: last })
  for (let round = 0; round < 3; round++) {
    try {
      context.append(text('x'))
      context.addAnchor(`a${round}`, 0)
    } catch (error) {
      assert.equal(error.name, 'InvalidArgumentError')
    }
  }
  const copy = Context.fromDict(context.fork().rawDict)
  assert.ok(copy.rollingSequenceWindow(0) === null || copy.messageCount > 0)
  const high = Context.fromDict({ messages: [{ role: 'user', _sequence_number: last }], _mutation_counter: 0 })
  assert.ok(Number.isSafeInteger(high.rawDict._mutation_counter) || high.rawDict._mutation_counter === 2 ** 53)
})

test('what was saved loads again, at the end of what can be counted too', async () => {
  const last = Number.MAX_SAFE_INTEGER
  for (const fields of [
    { _mutation_counter: last },
    { message_sequence: last },
    { messages: [{ id: 'm', role: 'user', _sequence_number: last }] },
  ]) {
    const storage = new RecordingStorage({
      'a/s/session.json': '{"active_context_id": "c"}',
      'a/s/c.json': fileText({ id: 'c', messages: [], ...fields }),
    })
    const session = await Session.load('a', 's', { storage })
    try {
      session.activeContext.append(text('x'))
    } catch (error) {
      assert.equal(error.name, 'InvalidArgumentError')
    }
    await session.save()
    const again = await Session.load('a', 's', { storage })
    assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict, JSON.stringify(fields))
  }
})

const part = (fields) => ({ role: 'assistant', content: [{ type: 'text', text: 'fine' }, fields] })

/** Messages of the wrong shape, with the field at fault. */
const NO_MESSAGES = [
  [{}, 'role'],
  [{ role: 5 }, 'role'],
  [{ role: null }, 'role'],
  [{ role: 'robot' }, 'role'],
  [{ role: 'User' }, 'role'],
  [{ role: '' }, 'role'],
  [{ role: ['user'] }, 'role'],
  [{ role: 'user', content: 'Hi' }, 'content'],
  [{ role: 'user', content: 5 }, 'content'],
  [{ role: 'user', content: {} }, 'content'],
  [{ role: 'user', content: true }, 'content'],
  [{ role: 'user', content: ['Hi'] }, 'content[0]'],
  [{ role: 'user', content: [null] }, 'content[0]'],
  [{ role: 'user', content: [[]] }, 'content[0]'],
  [{ role: 'user', content: [{}] }, 'content[0].type'],
  [{ role: 'user', content: [{ type: 5 }] }, 'content[0].type'],
  [{ role: 'user', id: 5 }, 'id'],
  [{ role: 'user', id: '' }, 'id'],
  [{ role: 'user', id: null }, 'id'],
  [{ role: 'user', _type: 5 }, '_type'],
  [{ role: 'user', metadata: 'x' }, 'metadata'],
  [{ role: 'user', metadata: [] }, 'metadata'],
  [{ role: 'user', metadata: 5 }, 'metadata'],
  [{ role: 'user', creation_timestamp: 5 }, 'creation_timestamp'],
  [{ role: 'user', _hook_ids: 'x' }, '_hook_ids'],
  [{ role: 'user', _hook_ids: [5] }, '_hook_ids'],
  [{ role: 'user', token_count: -1 }, 'token_count'],
  [{ role: 'user', token_count: 1.5 }, 'token_count'],
  [{ role: 'user', token_count: '5' }, 'token_count'],
  [part({ type: 'text' }), 'content[1].text'],
  [part({ type: 'text', text: 5 }), 'content[1].text'],
  [part({ type: 'text', text: null }), 'content[1].text'],
  [part({ type: 'thinking' }), 'content[1].text'],
  [part({ type: 'image' }), 'content[1].source'],
  [part({ type: 'image', source: 'x' }), 'content[1].source'],
  [part({ type: 'pdf', source: {} }), 'content[1].source.type'],
  [part({ type: 'video', source: { type: 'url' } }), 'content[1].source.url'],
  [part({ type: 'audio', source: { type: 'base64', data: 'x' } }), 'content[1].source.media_type'],
  [part({ type: 'audio', source: { type: 'base64', media_type: 'x' } }), 'content[1].source.data'],
  [part({ type: 'tool_use', name: 'f', arguments: '{}' }), 'content[1].call_id'],
  [part({ type: 'tool_use', call_id: 'c', arguments: '{}' }), 'content[1].name'],
  [part({ type: 'tool_use', call_id: 'c', name: 'f' }), 'content[1].arguments'],
  [part({ type: 'tool_use', call_id: 'c', name: 'f', arguments: {} }), 'content[1].arguments'],
  [
    part({ type: 'tool_use', call_id: 'c', name: 'f', arguments: '{}', approval_status: 5 }),
    'content[1].approval_status',
  ],
  [part({ type: 'tool_result', content: 'x' }), 'content[1].call_id'],
  [part({ type: 'tool_result', call_id: 5, content: 'x' }), 'content[1].call_id'],
  [part({ type: 'tool_result', call_id: 'c' }), 'content[1].content'],
  [part({ type: 'tool_result', call_id: 'c', content: [] }), 'content[1].content'],
  [part({ type: 'tool' }), 'content[1].name'],
  [part({ type: 'tool', name: 'f', parameters: [] }), 'content[1].parameters'],
  [part({ type: 'tool', name: 'f', description: 5 }), 'content[1].description'],
]

test('messages of the wrong shape: the field', async () => {
  const all = example()
  const { session, context } = all
  await unchanged(all, () => {
    for (const [message, field] of NO_MESSAGES) {
      const expected = { field, code: 'ERR_INVALID_MESSAGE', argument: 'message' }
      const error = refusedNow(() => context.append(message), 'InvalidMessageError', expected, JSON.stringify(message))
      assert.ok(error.message.startsWith(`message.${field}: `), error.message)
      assert.equal(error instanceof Error && error.constructor.name, 'InvalidMessageError')
      const stored = context.messages[1]
      if ('role' in message && field !== 'id')
        refusedNow(() => context.updateMessage(stored.id, message), 'InvalidMessageError', { field })
    }
    for (const message of [
      null,
      undefined,
      true,
      5,
      NaN,
      5n,
      'Hi',
      [],
      [text('x')],
      Symbol('x'),
      () => text('x'),
      new Map([['role', 'user']]),
      new Set(),
      new Uint8Array(2),
      new Date(),
      Promise.resolve(text('x')),
      /x/,
      new ArrayBuffer(2),
    ]) {
      refusedNow(() => context.append(message), 'InvalidMessageError', { field: '' }, shown(message))
    }
    void session
  })
})

test('special messages of the wrong shape', async () => {
  const cases = [
    [{ role: 'user' }, 'role'],
    [{ role: 5 }, 'role'],
    [{ content: 'x' }, 'content'],
    [5, ''],
    ['x', ''],
    [[], ''],
    [{ id: '' }, 'id'],
  ]
  const { context } = example()
  for (const [message, field] of cases) {
    for (const name of ['systemPromptMessage', 'toolDefinitionsMessage']) {
      const options = { [name]: message }
      for (const call of [
        () => Session.create('a', { ...options, storage: new RecordingStorage() }),
        () => Context.create(options),
        () => context.fork(options),
      ]) {
        refusedNow(call, 'InvalidMessageError', { field }, `${name} ${JSON.stringify(message)}`)
      }
    }
  }
  assert.deepEqual(context.children, [])
})

test('factories given the wrong thing', () => {
  for (const role of ['robot', '', null, undefined, 5, {}])
    refusedNow(() => Message.create(role, []), 'InvalidMessageError', { field: 'role' }, shown(role))
  for (const parts of ['Hi', 5, {}, [5], ['Hi'], [null], [{ type: 'text' }]]) {
    refusedNow(() => Message.create('user', parts), 'InvalidMessageError', { field: /^content/ }, JSON.stringify(parts))
  }
  for (const metadata of [5, 'x', [], true])
    refusedNow(() => Message.create('user', [], metadata), 'InvalidMessageError', { field: 'metadata' })
  for (const value of [5, {}, [], true, () => 'x'])
    refusedNow(() => SystemPromptMessage.create(value), 'InvalidMessageError', {}, shown(value))
  for (const value of [5, 'x', {}, [5], [null], [{}], ['f'], [{ name: 5 }]])
    refusedNow(() => ToolDefinitionsMessage.create(value), 'InvalidMessageError', {}, shown(value))
  for (const value of [NaN, 5n, () => 1, { a: NaN }, { a: [undefined] }, new Map(), undefined]) {
    refusedNow(
      () => ContentPart.toolUse('c', 'f', value),
      'InvalidArgumentError',
      { argument: /^arguments/ },
      shown(value),
    )
  }
})

test('what JSON cannot hold in a message is refused with the way to it', async () => {
  const all = example()
  const { context } = all
  const cyclic = { a: {} }
  cyclic.a.b = cyclic
  const cases = [
    [{ n: NaN }, 'metadata.n', /NaN/],
    [{ n: Infinity }, 'metadata.n', /Infinity/],
    [{ n: -Infinity }, 'metadata.n', /-Infinity/],
    [{ a: [1, { b: 5n }] }, 'metadata.a[1].b', /bigint/],
    [{ f: () => 1 }, 'metadata.f', /function/],
    [{ s: Symbol('x') }, 'metadata.s', /symbol/],
    [{ m: new Map() }, 'metadata.m', /Map/],
    [{ m: new Set() }, 'metadata.m', /Set/],
    [{ d: new Uint8Array(1) }, 'metadata.d', /Uint8Array/],
    [{ d: new ArrayBuffer(1) }, 'metadata.d', /ArrayBuffer/],
    [{ p: Promise.resolve() }, 'metadata.p', /Promise/],
    [{ r: /x/ }, 'metadata.r', /RegExp/],
    [{ a: [1, undefined] }, 'metadata.a[1]', /undefined/],
    [{ a: [, 1] }, 'metadata.a[0]', /undefined/],
    [{ c: cyclic }, /./, /contains itself/],
    [{ c: [cyclic] }, /./, /contains itself/],
  ]
  await unchanged(all, () => {
    for (const [metadata, field, message] of cases) {
      // A cycle has no one place: any way to it, or none, is right.
      const expected = { message, ...(field instanceof RegExp ? {} : { field }) }
      refusedNow(() => context.append({ role: 'user', metadata }), 'InvalidMessageError', expected, String(message))
    }
    const content = [{ type: 'text', text: 'x', n: NaN }]
    refusedNow(() => context.append({ role: 'user', content }), 'InvalidMessageError', { field: 'content[0].n' })
    for (const [metadata] of cases) {
      refusedNow(() => (context.rawDict = { ...context.rawDict, metadata }), 'InvalidArgumentError', {
        argument: /^rawDict/,
      })
      refusedNow(() => Context.fromDict({ metadata }), 'InvalidArgumentError', { argument: /^dict/ })
    }
  })
})

test('what JSON leaves out or writes its own way does what JSON.stringify does', () => {
  const context = Context.create()
  class Note {
    constructor() {
      this.a = 1
    }
    get hidden() {
      return 2
    }
  }
  const date = new Date(0)
  const stored = context.append({
    role: 'user',
    content: undefined,
    note: new Note(),
    date,
    none: undefined,
    [Symbol('x')]: 1,
    bare: Object.assign(Object.create(null), { a: 1 }),
    shared: [date, date],
    negative: -0,
  })
  assert.deepEqual(
    { ...stored, id: '', creation_timestamp: '' },
    {
      role: 'user',
      note: { a: 1 },
      date: date.toJSON(),
      bare: { a: 1 },
      shared: [date.toJSON(), date.toJSON()],
      negative: 0,
      _type: 'Message',
      id: '',
      _hook_ids: [],
      creation_timestamp: '',
      _sequence_number: 3,
    },
  )
})

test('a __proto__ key is a key: through files, append and rawDict, and pollutes nothing', async () => {
  const evil =
    '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}, "hasOwnProperty": 5, "toJSON": 7, "toString": null}'
  const message = `{"id": "m", "role": "user", "__proto__": ${evil}, "metadata": ${evil}, "content": [{"type": "x", "__proto__": ${evil}}]}`
  const storage = new RecordingStorage({
    'a/s/session.json': `{"active_context_id": "c", "__proto__": ${evil}, "state_data": {"__proto__": "own"}}`,
    'a/s/c.json': `{"id": "c", "messages": [${message}], "__proto__": ${evil}, "content_map": {"__proto__": "text"}}`,
  })
  const session = await Session.load('a', 's', { storage })
  const context = session.activeContext
  const check = (object) => {
    assert.ok(Object.hasOwn(object, '__proto__'))
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
    assert.equal(object.polluted, undefined)
  }
  const checkAll = (stored) => [stored, stored.metadata, stored.content[0]].forEach(check)
  checkAll(context.messages[0])
  checkAll(context.append({ ...JSON.parse(message), id: 'n' }))
  ;[context.rawDict, session.rawDict, context.contentMap, session.rawDict.state_data].forEach(check)
  context.rawDict = context.rawDict
  session.rawDict = session.rawDict
  context.updateMessage('n', JSON.parse(`{"__proto__": ${evil}}`))
  ;[context.rawDict, session.rawDict, context.messages[1]].forEach(check)
  const child = session.rollingSequenceWindow(1)
  checkAll(child.messages[0])
  await session.save()
  const again = await Session.load('a', 's', { storage })
  ;[again.rawDict, (await again.loadContext('c')).rawDict].forEach(check)
  checkAll(again.activeContext.messages[0])
  checkAll((await again.loadContext('c')).messages[0])
  checkAll(Context.fromDict(context.rawDict).messages[0])
  check(Message.create('user', [], JSON.parse(evil)).metadata)
  check(JSON.parse(ContentPart.toolUse('c', 'f', JSON.parse(evil)).arguments))
  assert.equal({}.polluted, undefined)
  assert.equal(Object.prototype.polluted, undefined)
  assert.equal([].polluted, undefined)
})

test('a setter on Object.prototype is not run', () => {
  const context = Context.create()
  Object.defineProperty(Object.prototype, 'role', {
    set() {
      throw new Error('run')
    },
    get() {
      return undefined
    },
    configurable: true,
  })
  try {
    context.append({ role: 'user', content: [{ type: 'text', text: 'x' }] })
    assert.equal(context.messages[0].role, 'user')
    assert.equal(Message.create('user', []).role, 'user')
  } finally {
    delete Object.prototype.role
  }
})

test('nesting of 900 levels: loads, saves, is appended and read', async () => {
  for (const place of ['message', 'metadata', 'part', 'context', 'session']) {
    const deep = nestedText(890)
    const inMessage = {
      message: `"deep": ${deep}`,
      metadata: `"metadata": {"deep": ${deep}}`,
      part: `"content": [{"type": "x", "deep": ${deep}}]`,
    }[place]
    const storage = new RecordingStorage({
      'a/s/session.json': `{"active_context_id": "c"${place === 'session' ? `, "deep": ${deep}` : ''}}`,
      'a/s/c.json': `{"id": "c"${place === 'context' ? `, "deep": ${deep}` : ''}, "messages": [{"id": "m", "role": "user"${inMessage ? `, ${inMessage}` : ''}}]}`,
    })
    const session = await Session.load('a', 's', { storage })
    const context = session.activeContext
    if (inMessage) context.append({ ...JSON.parse(`{"role": "user", ${inMessage}}`), id: 'n' })
    context.append(text('x'))
    assert.ok(context.totalTokenCount() > 0)
    context.updateMessage('m', { mood: 1 })
    context.rawDict = { ...context.rawDict, other: 1 }
    session.rawDict = { ...session.rawDict, other: 1 }
    session.rollingSequenceWindow(2)
    JSON.stringify([session, context])
    await session.save()
    const again = await Session.load('a', 's', { storage })
    assert.equal(JSON.stringify(again), JSON.stringify(session))
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(session.activeContext))
    assert.equal(JSON.stringify(await again.loadContext('c')), JSON.stringify(context))
  }
})

test('however deep a message is that append takes, its session loads again', async () => {
  for (let depth = 985; depth <= 1002; depth++) {
    for (const wrap of [
      (deep) => ({ deep }),
      (deep) => ({ metadata: { deep } }),
      (deep) => ({ content: [{ type: 'x', deep }] }),
    ]) {
      const { session, context, storage } = example()
      try {
        context.append({ role: 'user', ...wrap(nested(depth)) })
      } catch (error) {
        assert.equal(error.name, 'InvalidMessageError')
        assert.equal(context.messageCount, 3)
        continue
      }
      await session.save()
      const again = await Session.load('a', session.uuid, { storage })
      assert.equal(JSON.stringify(again.activeContext), JSON.stringify(context), `depth ${depth}`)
    }
  }
})

test('however deep a dict is that rawDict takes, it can be read, saved, loaded and set again', async () => {
  for (let depth = 985; depth <= 1002; depth++) {
    const { session, context, storage } = example()
    try {
      context.rawDict = { ...context.rawDict, deep: nested(depth) }
      session.rawDict = { ...session.rawDict, deep: nested(depth) }
    } catch (error) {
      assert.equal(error.name, 'InvalidArgumentError')
      continue
    }
    context.rawDict = { ...context.rawDict }
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(context), `depth ${depth}`)
  }
})

for (const depth of [5_000, 100_000, 1_000_000]) {
  test(`nesting of ${depth} levels is a typed error, in files and in objects`, async () => {
    const objects = (count) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`
    for (const deep of [nestedText(depth), objects(depth), '['.repeat(depth), '{"a":'.repeat(depth)]) {
      const one = new RecordingStorage({ 'a/s/session.json': `{"deep": ${deep}}` })
      const error = await refused(() => Session.load('a', 's', { storage: one }), 'CorruptSessionError', {
        path: 'a/s/session.json',
        line: 1,
        field: null,
        message: /deep/,
      })
      assert.ok(error.column > 1000)
      const two = new RecordingStorage({
        'a/s/session.json': '{"active_context_id": "c"}',
        'a/s/c.json': `{"messages": [{"deep": ${deep}}]}`,
      })
      await refused(() => Session.load('a', 's', { storage: two }), 'CorruptSessionError', {
        path: 'a/s/c.json',
        message: /deep/,
      })
      const errors = []
      assert.deepEqual(await Session.list('a', { storage: one, onError: (error) => errors.push(error) }), [])
      assert.equal(errors[0].name, 'CorruptSessionError')
    }
    const all = example()
    const { session, context } = all
    const deep = nested(depth)
    await unchanged(all, () => {
      refusedNow(() => context.append({ role: 'user', deep }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => context.append({ role: 'user', content: [{ type: 'x', deep }] }), 'InvalidMessageError', {
        message: /deep/,
      })
      refusedNow(() => context.append(deep), 'InvalidMessageError')
      refusedNow(() => context.updateMessage(context.messages[1].id, { deep }), 'InvalidMessageError', {
        message: /deep/,
      })
      refusedNow(() => (context.rawDict = { ...context.rawDict, deep }), 'InvalidArgumentError', {
        argument: /^rawDict/,
        message: /deep/,
      })
      refusedNow(() => (session.rawDict = { ...session.rawDict, deep }), 'InvalidArgumentError', {
        argument: /^rawDict/,
        message: /deep/,
      })
      refusedNow(() => Context.fromDict({ deep }), 'InvalidArgumentError', { argument: /^dict/, message: /deep/ })
      refusedNow(() => Message.create('user', [], { deep }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => context.fork({ systemPromptMessage: { deep } }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => Context.create({ toolDefinitionsMessage: { deep } }), 'InvalidMessageError', { message: /deep/ })
    })
  })
}

test('a session with a corrupt active context can still be listed, and a corrupt other context harms nothing', async () => {
  const { session, context, storage } = example()
  session.rollingSequenceWindow(1)
  await session.save()
  storage.put(`${session.sessionDir}/${context.id}.json`, '{"torn')
  const again = await Session.load('a', session.uuid, { storage })
  const before = [again.rawDict, again.activeContext.rawDict]
  await refused(() => again.loadContext(context.id), 'CorruptSessionError', {
    path: `${session.sessionDir}/${context.id}.json`,
  })
  assert.deepEqual([again.rawDict, again.activeContext.rawDict], before)
  again.activeContext.append(text('x'))
  await again.save()
  assert.equal(storage.text(`${session.sessionDir}/${context.id}.json`), '{"torn')
  storage.put(`${session.sessionDir}/${again.activeContextId}.json`, '')
  await refused(() => Session.load('a', session.uuid, { storage }), 'CorruptSessionError')
  assert.equal((await Session.list('a', { storage })).length, 1)
})
