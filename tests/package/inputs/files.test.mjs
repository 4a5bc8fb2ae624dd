// Session and context files that cannot be loaded: a typed error that names the file, the field, the line and the column.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkError, refused, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { fileText } from '../support/text.mjs'
import { example } from '../support/unchanged.mjs'
import { NO_IDS, shown, text } from '../support/values.mjs'

const { Context, Session } = await load('peteos-session')

test('an id in a file that is not a plain file name is corrupt, and nothing outside the session is read', async () => {
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

test('a file of another session or another context is corrupt', async () => {
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

/** Texts that are not JSON, with the line and column of the fault; columns count bytes. */
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

test('a file that is empty, truncated or not JSON is corrupt: the error has its path, line and column', async () => {
  for (const [content, line, column] of NO_JSON) {
    const expected = { line, column, code: 'ERR_CORRUPT_SESSION', field: null }
    const storage = new RecordingStorage({ 'a/s/session.json': content })
    await refused(
      () => Session.load('a', 's', { storage }),
      'CorruptSessionError',
      { ...expected, path: 'a/s/session.json', message: new RegExp(`a/s/session.json:${line}:${column}`) },
      shown(content),
    )
    assert.equal(storage.text('a/s/session.json'), content, 'the file is unchanged')
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

test('a file that is truncated at any byte is corrupt', async () => {
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

test('a file with any byte changed loads and works, or is corrupt', async () => {
  const bytes = new TextEncoder().encode(
    fileText({ ...JSON.parse(WHOLE), anchor_points: [['messages', 1]], _mutation_counter: 4, children: [] }),
  )
  const isJson = (data) => {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data)) !== undefined
    } catch {
      return false
    }
  }
  const change = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }))
  const seen = { loaded: 0, corrupt: 0 }
  await forAll(600, fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
    const data = bytes.slice()
    for (const [at, byte] of changes) data[at] = byte
    const storage = new RecordingStorage({ 'a/s/session.json': '{"active_context_id": "c"}', 'a/s/c.json': data })
    const load = () => Session.load('a', 's', { storage })
    const session = await load().catch((error) => void checkError(error, 'CorruptSessionError', { path: 'a/s/c.json' }))
    seen[session ? 'loaded' : 'corrupt']++
    if (!session) return
    assert.ok(isJson(data), 'a text that is not JSON was loaded')
    const { activeContext } = session
    const append = () => activeContext.append(text('appended'))
    if (activeContext.anchorPoints.some(([name]) => name === 'messages')) {
      append()
      const window = session.rollingSequenceWindow(1)
      assert.equal((window ?? activeContext).messages.at(-1).content[0].text, 'appended')
    } else {
      refusedNow(append, 'InvalidArgumentError', { argument: 'anchorPoint' })
    }
    const fork = activeContext.fork()
    assert.equal(fork.messageCount, activeContext.messageCount)
    const active = session.activeContext
    session.setActiveContext(fork)
    session.setActiveContext(active)
    await session.save()
    assert.deepEqual((await load()).activeContext.rawDict, session.activeContext.rawDict)
  })
  assert.ok(seen.loaded > 0 && seen.corrupt > 0, JSON.stringify(seen))
})

test('a file that is not UTF-8 is corrupt: the error has the line and column', async () => {
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

test('a session file of the wrong shape is corrupt: the error has the field, line and column', async () => {
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

test('a context file of the wrong shape is corrupt: the error has the field, line and column', async () => {
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
    // The same in a dict that a caller passes.
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

test('a corrupt context that is not active does not prevent a load, and a session whose active context is corrupt is still listed', async () => {
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
