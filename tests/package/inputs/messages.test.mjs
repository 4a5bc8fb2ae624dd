// Messages of the wrong shape: a typed error that names the field, and nothing has changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { example, unchanged } from '../support/unchanged.mjs'
import { shown, text } from '../support/values.mjs'

const { Context, ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

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
  [part({ type: 'tool_result', call_id: 'c', content: 5 }), 'content[1].content'],
  [part({ type: 'tool_result', call_id: 'c', content: [{ type: 'tool_use' }] }), 'content[1].content[0].type'],
  [part({ type: 'tool' }), 'content[1].name'],
  [part({ type: 'tool', name: 'f', parameters: [] }), 'content[1].parameters'],
  [part({ type: 'tool', name: 'f', description: 5 }), 'content[1].description'],
]

test('a message of the wrong shape is refused: the error has the field', async () => {
  const all = example()
  const { context } = all
  await unchanged(all, () => {
    for (const [message, field] of NO_MESSAGES) {
      const expected = { field, code: 'ERR_INVALID_MESSAGE', argument: 'message' }
      const error = refusedNow(() => context.append(message), 'InvalidMessageError', expected, JSON.stringify(message))
      assert.ok(error.message.startsWith(`message.${field}: `), error.message)
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
  })
})

test('a special message of the wrong shape is refused', async () => {
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

test('the factories refuse values of the wrong type', () => {
  for (const role of ['robot', '', null, undefined, 5, {}])
    refusedNow(() => Message.create(role, []), 'InvalidMessageError', { field: 'role' }, shown(role))
  for (const parts of [5, {}, [5], ['Hi'], [null], [{ type: 'text' }]]) {
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

test('a value that JSON cannot hold is refused: the error has its path', async () => {
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
    [{ c: cyclic }, undefined, /contains itself/],
    [{ c: [cyclic] }, undefined, /contains itself/],
  ]
  await unchanged(all, () => {
    for (const [metadata, field, message] of cases) {
      // A cycle has no single position: any path to it, or none, is right.
      const expected = { message, ...(field && { field }) }
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

test('values that JSON omits or converts are stored as JSON.stringify writes them', () => {
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
