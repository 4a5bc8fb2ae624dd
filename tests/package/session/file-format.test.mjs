// The files: their bytes, the order of their keys, and what stays unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { loaded } from '../support/loaded.mjs'
import { fc, forAll, list, nth } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { fileText, Raw } from '../support/text.mjs'
import { NUMBERS, text } from '../support/values.mjs'

const { ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

test('the JSON writer of these tests writes the same as Python', () => {
  const value = {
    a: [],
    b: {},
    c: [1, -2.5, true, null, { 'k"\\': 'é😀\x7f\u2028\n\r\t\b\f\x1f/' }],
    é: new Raw('1e16'),
  }
  assert.equal(
    fileText(value),
    '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    -2.5,\n    true,\n    null,\n    {\n' +
      '      "k\\"\\\\": "\\u00e9\\ud83d\\ude00\\u007f\\u2028\\n\\r\\t\\b\\f\\u001f/"\n    }\n  ],\n  "\\u00e9": 1e16\n}',
  )
})

test('the files of a new session have the expected bytes', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', {
    storage,
    systemPromptMessage: SystemPromptMessage.create('Größe: 日本 🏳️‍🌈 "quoted" \\ \x7f\u2028\0'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([
      { name: 'f', description: '', parameters: { type: 'object', properties: {} } },
    ]),
  })
  const context = session.activeContext
  context.append(
    Message.create('assistant', [ContentPart.thinking('…'), ContentPart.toolUse('1', 'f', { é: ['😀'] })], {
      n: 1.5,
      none: null,
    }),
  )
  context.append({ role: 'user' })
  session.state.create('clé', 'välue')
  session.autoApproveTools = ['f']
  await session.save()
  const directory = session.sessionDir
  assert.deepEqual(
    [...storage.files.keys()].sort(),
    [`${directory}/${context.id}.json`, `${directory}/session.json`].sort(),
  )
  assert.equal(storage.text(`${directory}/session.json`), fileText(session.rawDict))
  assert.equal(storage.text(`${directory}/${context.id}.json`), fileText(context.rawDict))
  for (const data of storage.files.values()) {
    assert.ok(data.every((byte) => byte === 0x0a || (byte >= 0x20 && byte < 0x7f)))
    assert.equal(data.at(-1), 0x7d, 'no newline at the end')
  }
})

test('keys are written in the order of the reference', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', {
    storage,
    systemPromptMessage: SystemPromptMessage.create('s'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([]),
  })
  const first = session.activeContext
  first.append(text('x'))
  const fork = session.rollingSequenceWindow(0)
  await session.save()
  const keys = (name) => Object.keys(JSON.parse(storage.text(`${session.sessionDir}/${name}.json`)))
  assert.deepEqual(keys('session'), ['uuid', 'active_context_id', 'auto_approve_tools', 'state_data', 'is_active'])
  // The reference never writes `_anchor_sequences`, so it has no fixed position.
  const own = (name) => keys(name).filter((key) => key !== '_anchor_sequences')
  const fresh = ['messages', 'id', 'content_map', 'anchor_points', 'message_sequence', '_mutation_counter', 'children']
  const specials = ['system_prompt_message_id', 'tool_definitions_message_id']
  assert.deepEqual(own(first.id), [...fresh, ...specials])
  assert.deepEqual(own(fork.id), [...fresh, 'origin_context_id', 'parent_mutation_counter', ...specials])
  const [message] = JSON.parse(storage.text(`${session.sessionDir}/${first.id}.json`)).messages.slice(-1)
  assert.equal(Object.keys(message).at(-1), '_sequence_number')
})

test('unknown keys, types and values are kept, in their order', async () => {
  const message = {
    zz: 1,
    role: 'developer',
    aa: { 10: 'ten', 2: 'two', b: [] },
    id: 'm',
    _type: 'FancyMessage',
    content: [
      { data: 7, type: 'hologram', text: 5 },
      { type: 'text' },
      { type: 'tool_use', arguments: { not: 'text' } },
    ],
    creation_timestamp: 5,
    _hook_ids: ['h'],
    _sequence_number: 9,
    token_count: 3,
  }
  const context = {
    zz: null,
    messages: [message],
    extra: [[]],
    id: 'c',
    anchor_points: [['messages', 1]],
    content_map: { b: 'x', a: 'y' },
    message_sequence: 1,
    _mutation_counter: 10,
    children: ['x'],
    _anchor_sequences: [0],
    aa: '',
  }
  const session = {
    later: {},
    is_active: false,
    uuid: 's',
    active_context_id: 'c',
    state_data: { n: 5, b: null },
    auto_approve_tools: [],
    first: 0,
  }
  const run = await loaded(fileText(context), fileText(session))
  run.session.autoApproveTools = ['x']
  const added = run.session.activeContext.append(text('y'))
  await run.session.save()
  assert.equal(run.storage.text('a/s/session.json'), fileText({ ...session, auto_approve_tools: ['x'] }))
  assert.equal(
    run.storage.text('a/s/c.json'),
    fileText({
      ...context,
      messages: [message, added],
      anchor_points: [['messages', 2]],
      message_sequence: 2,
      _mutation_counter: 11,
    }),
  )
})

test('keys that look like numbers keep their order in the file', async () => {
  // JavaScript itself shows such keys in ascending order.
  const source =
    '{\n  "id": "c",\n  "messages": [],\n  "unknown": {\n    "10": 1,\n    "2": 2,\n    "-1": 3,\n    "01": 4\n  }'
  const { storage, session } = await loaded(`${source}\n}`)
  session.activeContext.append(text('x'))
  await session.save()
  assert.ok(
    storage.text('a/s/c.json').startsWith(source.replace('"messages": []', '"messages": [').split('"messages": [')[0]),
  )
  assert.ok(storage.text('a/s/c.json').includes('"10": 1,\n    "2": 2,\n    "-1": 3,\n    "01": 4'))
})

test('a file with other white space, escapes or a byte order mark loads, and is written in the usual form', async () => {
  const dict = {
    messages: [
      {
        id: 'm',
        role: 'user',
        content: [{ type: 'text', text: 'é😀/' }],
        _type: 'Message',
        _hook_ids: [],
        creation_timestamp: 't',
      },
    ],
    id: 'c',
  }
  const sources = [
    JSON.stringify(dict),
    `\ufeff${JSON.stringify(dict)}`,
    `\r\n\t ${JSON.stringify(dict, null, '\t')}\r\n`,
    JSON.stringify(dict).replace('é😀/', '\\u00E9\\uD83D\\ude00\\/'),
  ]
  for (const source of sources) {
    const { session, storage } = await loaded(source)
    assert.equal(session.activeContext.messages[0].content[0].text, 'é😀/')
    await session.save()
    assert.equal(storage.text('a/s/c.json'), source, 'an unchanged file is not written')
    session.activeContext.append(text('x'))
    await session.save()
    assert.equal(storage.text('a/s/c.json'), fileText(session.activeContext.rawDict))
  }
})

test('a lone surrogate in a file or a message becomes U+FFFD', async () => {
  const { session, storage } = await loaded(
    '{"id": "c", "messages": [{"id": "m", "role": "user", "content": [{"type": "text", "text": "a\\ud83db"}]}]}',
  )
  const context = session.activeContext
  assert.equal(context.messages[0].content[0].text, 'a\ufffdb')
  assert.equal(context.append(text('\udc00\ud83d')).content[0].text, '\ufffd\ufffd')
  assert.equal(context.append(text('x', { '\ud800': 1 }))['\ufffd'], 1)
  await session.save()
  assert.deepEqual((await Session.load('a', 's', { storage })).activeContext.rawDict, context.rawDict)
})

test('any text survives a save and a load', async () => {
  const pieces = [
    'a',
    '"',
    '\\',
    '/',
    '\0',
    '\x1f',
    '\x7f',
    '\x80',
    'é',
    '\u2028',
    '\ufeff',
    '\ufffe',
    '日',
    '😀',
    '\u{10ffff}',
    '\\u0041',
    '\\ud83d',
    '\n',
    '\r',
    '\t',
    '\b',
    '\f',
    '${x}',
    '</script>',
  ]
  const texts = list(0, 12, fc.constantFrom(...pieces)).map((chosen) => chosen.join(''))
  await forAll(60, list(1, 28, texts), async (given) => {
    let count = 0
    const any = () => nth(given, count++)
    const storage = new RecordingStorage()
    const session = Session.create('a', { storage })
    const context = session.activeContext
    for (let index = 0; index < 5; index++)
      context.append(text(any(), { metadata: { [any()]: [any(), { [any()]: any() }] }, [`k${any()}`]: any() }))
    session.state.create(any(), any())
    session.autoApproveTools = [any()]
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.rawDict, session.rawDict)
    assert.deepEqual(again.activeContext.rawDict, context.rawDict)
    assert.equal(storage.text(`${session.sessionDir}/${context.id}.json`), fileText(context.rawDict))
  })
})

/** Any JSON, with number texts that JavaScript would write differently. */
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constant(null),
    fc.boolean(),
    fc.constantFrom(...NUMBERS).map((number) => new Raw(number)),
    fc.constantFrom('', 'x', 'é😀', '\n"\\'),
    { weight: 2, arbitrary: list(0, 4, tie('json')) },
    {
      weight: 2,
      arbitrary: list(0, 4, fc.tuple(fc.constantFrom('k', '', 'é', '__proto__', 'x y'), tie('json'))).map((entries) =>
        Object.fromEntries(entries.map(([key, value], index) => [`${key}${index}`, value])),
      ),
    },
  ),
}))

test('any JSON survives a load, a change and a save', async () => {
  await forAll(100, json, async (unknown) => {
    const dict = {
      messages: [
        {
          id: 'm',
          role: 'user',
          unknown,
          _type: 'Message',
          _hook_ids: [],
          creation_timestamp: 't',
          _sequence_number: 3,
        },
      ],
      id: 'c',
      content_map: {},
      anchor_points: [['messages', 1]],
      message_sequence: 1,
      _mutation_counter: 4,
      children: [],
      unknown,
    }
    const { session, storage } = await loaded(fileText(dict))
    const added = session.activeContext.append(text('x', { id: 'n', creation_timestamp: 't' }))
    await session.save()
    const sequences = JSON.parse(storage.text('a/s/c.json'))._anchor_sequences
    const expected = {
      ...dict,
      messages: [...dict.messages, added],
      anchor_points: [['messages', 2]],
      message_sequence: 2,
      _mutation_counter: 5,
    }
    assert.equal(
      storage.text('a/s/c.json'),
      fileText(sequences === undefined ? expected : { ...expected, _anchor_sequences: sequences }),
    )
  })
})

test('a context that a Python program continued can be continued', async () => {
  // As the reference writes it: no `_anchor_sequences`, and its own counters.
  const { storage, session } = await loaded(
    fileText({
      messages: [
        {
          _type: 'Message',
          id: 'm',
          role: 'user',
          content: [{ type: 'text', text: 'x' }],
          creation_timestamp: '2026-01-02T03:04:05.000006',
          _hook_ids: [],
          _sequence_number: 3,
        },
      ],
      id: 'c',
      content_map: {},
      anchor_points: [
        ['system_prompt', 0],
        ['tools', 0],
        ['messages', 1],
      ],
      message_sequence: 1,
      _mutation_counter: 4,
      children: [],
    }),
  )
  const context = session.activeContext
  assert.equal(context.append(text('y'))._sequence_number, 4)
  context.addAnchor('notes', 1)
  assert.equal(context.append(text('z'), 'notes')._sequence_number, 6)
  assert.deepEqual(
    context.messages.map(({ content }) => content[0].text),
    ['x', 'z', 'y'],
  )
  await session.save()
  assert.equal((await Session.load('a', 's', { storage })).activeContext.rawDict._mutation_counter, 7)
})
