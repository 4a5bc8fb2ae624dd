// The rest of the conversation model: hooks, the key-value store, flags, factories, subclasses of messages.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { available, needsReference, Oracle } from './oracle.mjs'
import { compareSteps, describeSteps, lastMessages } from './support/compare.mjs'
import { ContentPart, MemoryStorage, Message, Session, SystemPromptMessage } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const oracle = available && new Oracle()
after(() => oracle?.close())

/** Runs the steps on both sides and asserts the same results; resolves to the answers of the reference. */
async function same(start, steps) {
  const result = await compareSteps(oracle, start, steps)
  if (result.difference) assert.fail(`\n${describeSteps(result)}`)
  return result.answers
}

const system = (fields = {}) => JSON.stringify({ id: 's', ...fields })
const tools = JSON.stringify({ id: 't', content: [] })
const append = (text) => ({
  do: 'append',
  message: JSON.stringify({ role: 'user', content: [{ type: 'text', text }] }),
})
const sha256 = (text) => createHash('sha256').update(text).digest('hex')

test('the factories create the same dicts', needsReference, async () => {
  const theirs = await oracle.ask({ do: 'factories' })
  const source = { type: 'url', url: 'https://example.org/a' }
  const ours = {
    text: ContentPart.text('é'),
    thinking: ContentPart.thinking('hm'),
    image: ContentPart.image(source),
    video: ContentPart.video(source),
    audio: ContentPart.audio(source),
    pdf: ContentPart.pdf(source),
    toolUse: ContentPart.toolUse('c1', 'read', '{"a": 1.0}'),
    toolResult: ContentPart.toolResult('c1', 'done', { status: 'waiting_for_approval' }),
    tool: ContentPart.tool('read', 'Reads', { type: 'object' }),
    message: Message.create('user', [ContentPart.text('é')]),
    messageWithMetadata: Message.create('user', [], { a: 1 }),
    systemPrompt: SystemPromptMessage.create('Be kind.'),
    emptySystemPrompt: SystemPromptMessage.create(),
  }
  assert.deepEqual(Object.keys(ours), Object.keys(theirs))
  // Key by key, in this order; generated values are compared by their form.
  const form = (text) =>
    text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, 'uuid').replace(/\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}/, 'now')
  for (const [name, made] of Object.entries(ours)) {
    assert.equal(form(JSON.stringify(made)), form(JSON.stringify(JSON.parse(theirs[name]))), name)
  }
})

test('a system prompt consists of its static text and its hooks', needsReference, async () => {
  const answers = await same(
    { system: system({ _static_text: 'Fixed.', content: [{ type: 'text', text: 'Fixed.' }] }) },
    [
      append('one'),
      { do: 'hook', message: 0, name: 'mood', text: 'Be kind. 😀\u2028' },
      { do: 'hook', message: 0, name: 'time', text: '' },
      { do: 'hook', message: 0, name: 'söng', text: 'La.\n\nLa.' },
      { do: 'materialize' },
      { do: 'count', encodings: ['cl100k_base', 'o200k_base'] },
    ],
  )
  const dump = JSON.parse(answers[4].dumps['context-1'])
  assert.equal(dump.messages[0].content[0].text, 'Fixed.\n\nBe kind. 😀\u2028\n\n\n\nLa.\n\nLa.')
  assert.deepEqual(dump.messages[0]._hook_ids, ['mood', 'time', 'söng'].map(sha256))
  assert.deepEqual(
    dump.content_map,
    Object.fromEntries(['Be kind. 😀\u2028', '', 'La.\n\nLa.'].map((text) => [sha256(text), text])),
  )
  assert.deepEqual(answers[3].result, { id: sha256('söng') })
})

test('hooks work without a static text, on several messages, and on none', needsReference, async () => {
  await same({ system: system(), tools }, [
    append('one'),
    { do: 'materialize' },
    { do: 'hook', message: 0, name: 'mood', text: 'A' },
    { do: 'hook', message: 2, name: 'mood', text: 'B' },
    { do: 'hook', message: 2, name: 'other', text: 'C' },
    { do: 'materialize' },
    // The last function under a name is called, and its position among the hooks stays.
    { do: 'hook', message: 0, name: 'late', text: 'D' },
    { do: 'hook', message: 0, name: 'mood', text: 'E' },
    { do: 'materialize' },
    { do: 'materialize' },
  ])
})

test('windows, forks and files keep hooks, but not their functions', needsReference, async () => {
  const answers = await same({ system: system({ _static_text: 'Fixed.' }), tools }, [
    ...['one', 'two', 'three'].map(append),
    { do: 'hook', message: 0, name: 'mood', text: 'A' },
    { do: 'hook', message: 1, name: 'tool_list', text: '[{"name":"read","parameters":{"x":1e16}}]' },
    { do: 'materialize' },
    { do: 'sessionSequenceWindow', count: 1 },
    { do: 'hook', message: 0, name: 'mood', text: 'B' },
    { do: 'materialize' },
    { do: 'fork', on: 1, system: system({ id: 's2' }) },
    { do: 'activate', on: 2 },
    { do: 'materialize' },
    { do: 'reload' },
    { do: 'materialize' },
    { do: 'hook', message: 0, name: 'mood', text: 'C' },
    { do: 'materialize' },
    { do: 'count', encodings: ['cl100k_base'] },
    { do: 'stripThinking' },
  ])
  // After a load, hooks without a registered function contribute nothing.
  assert.deepEqual(lastMessages(answers.slice(0, 14)).find(({ id }) => id === 't').content, [])
})

test('tool definitions are the tools of the list that match a pattern of the filter', needsReference, async () => {
  const list = [
    'read',
    'write',
    'get_weather',
    'get_',
    'internal_reset',
    'a.b',
    'a-b',
    'Read',
    'x1',
    'aa',
    '',
    'read\n',
    'ré',
  ].map((name) => ({ name, description: `${name}!`, parameters: { type: 'object' }, extra: 1, type: 'other' }))
  const bare = [{ name: 'bare' }, { description: 'no name' }, {}]
  const single = String.raw`rea ead read|write get_.* get_.+ .* nothing a.b a\.b [Rr]ead (re|wr)(ad|ite) a{2} (?:a|aa)
    ^read$ (?=r).* (?!r).+ r. .*\n [^_]* \S+ [a-z_]+? (?P<x>r)e.* a|ab|a-b \bread\b \Dx?\d* .*(?<=ad) re\Bad`
  const several = [[], ['read'], [''], ['internal_\\w+', 'x\\d'], ['read', 'read', 'write']]
  const filters = [...several, ...single.split(/\s+/).map((pattern) => [pattern])]
  for (const patterns of filters) {
    const answers = await same({ tools }, [
      { do: 'hook', message: 0, name: 'tool_list', text: JSON.stringify([...list, ...bare]) },
      { do: 'hook', message: 0, name: 'tool_filter', text: JSON.stringify(patterns) },
      { do: 'materialize' },
    ])
    const names = lastMessages(answers)[0].content.map(({ name }) => name)
    // Tools that match are kept; without a pattern all are.
    if (patterns.length === 0) assert.equal(names.length, list.length + bare.length)
    if (patterns[0] === 'read') assert.ok(names.includes('read') && !names.includes('Read'))
    if (patterns[0] === 'rea') assert.deepEqual(names, [])
  }
})

test('the key-value store behaves the same', needsReference, async () => {
  const state = (call, ...args) => ({ do: 'state', call, args })
  const answers = await same({}, [
    state('list'),
    state('get', 'step'),
    state('create', 'step', 'one'),
    state('create', 'step', 'two'), // exists
    state('get', 'step'),
    state('update', 'step', 'two', 'three'), // has another value
    state('update', 'nothing', '', 'x'), // does not exist
    state('update', 'step', 'one', 'two'),
    state('get', 'step'),
    state('delete', 'nothing'), // does not exist
    ...['10', '2', '', '__proto__', 'constructor', 'ключ', 'a.b', '😀'].map((name) =>
      state('create', name, `${name}!`),
    ),
    state('list'),
    state('delete', '2'),
    state('create', '2', 'again'),
    state('list'),
    ...['10', '__proto__', 'constructor', 'toString', ''].map((name) => state('get', name)),
    { do: 'save' },
    { do: 'reload' },
    state('list'),
    state('get', '2'),
    state('delete', 'step'),
    state('get', 'step'),
    { do: 'save' },
  ])
  const errors = answers.map(({ result }) => result.error)
  assert.deepEqual(
    [3, 5, 6, 9].map((index) => errors[index]),
    ['ValueError', 'ValueError', 'KeyError', 'KeyError'],
  )
  assert.equal(errors.filter(Boolean).length, 4)
})

test('the errors of the key-value store are typed', () => {
  const { state } = Session.create('parent', { storage: new MemoryStorage() })
  state.create('step', 'one')
  const invalid = { name: 'InvalidArgumentError', code: 'ERR_INVALID_ARGUMENT', argument: 'name' }
  assert.throws(() => state.create('step', 'two'), invalid)
  assert.throws(() => state.update('nothing', '', 'x'), invalid)
  assert.throws(() => state.delete('nothing'), invalid)
  assert.throws(() => state.update('step', 'two', 'three'), {
    name: 'ConflictError',
    code: 'ERR_CONFLICT',
    variable: 'step',
  })
  assert.equal(state.get('step'), 'one')
})

test('flags and lists of the session behave the same', needsReference, async () => {
  await same({}, [
    { do: 'setActive', value: true },
    { do: 'setAutoApprove', tools: ['read', 'é', '😀', ''] },
    { do: 'save' },
    { do: 'reload' },
    { do: 'setActive', value: false },
    { do: 'setAutoApprove', tools: [] },
    { do: 'save' },
  ])
})

test('subclasses of messages are kept', needsReference, async () => {
  const start = {
    system: system({ _type: 'Persona', content: [] }),
    tools: JSON.stringify({ id: 't', _type: 'Toolbox' }),
  }
  const note = {
    do: 'append',
    message: '{"role":"user","_type":"Note","id":"n","content":[{"type":"text","text":"x"}],"color":"red"}',
  }
  const answers = await same(start, [
    note,
    append('one'),
    { do: 'specials' },
    { do: 'sessionSequenceWindow', count: 1 },
    { do: 'specials', on: 1 },
    { do: 'fork', on: 0, tools: JSON.stringify({ id: 't2', _type: 'Toolbox', content: [] }) },
    { do: 'reload' },
    { do: 'specials' },
  ])
  assert.deepEqual(answers[7].result, { specials: ['s', 't'] })
})

test('special messages are identified by their id, position and type', needsReference, async () => {
  const message = (id, role, type, extra = '') =>
    `{"id":"${id}","role":"${role}","_type":"${type}","content":[]${extra},"_sequence_number":${'abcd'.indexOf(id)}}`
  const file = (messages, ids) => ({
    uuid: '20010203-x',
    files: {
      'session.json': sessionFile('20010203-x', 'c'),
      'c.json': `{"messages":[${messages}],"id":"c","content_map":{},"anchor_points":[["system_prompt",0],["tools",0],["messages",${messages.length}]],
        "message_sequence":${messages.length},"_mutation_counter":9,"children":[],${ids}}`,
    },
  })
  const plain = message('a', 'user', 'Message')
  const prompt = message('b', 'system', 'SystemPromptMessage')
  const list = message('c', 'tool', 'ToolDefinitionsMessage')
  const both = '"system_prompt_message_id":"b","tool_definitions_message_id":"c"'
  const cases = [
    file([prompt, list, plain], both),
    file([list, prompt, plain], both),
    file([plain, prompt, list], both),
    file([prompt, plain, list], both),
    file([plain, list], both),
    file([list, plain], both),
    file([], both),
    file([prompt, list, plain], '"system_prompt_message_id":null'),
    file([prompt, list, plain], '"system_prompt_message_id":"c","tool_definitions_message_id":"b"'),
    file([plain, list], '"system_prompt_message_id":"a","tool_definitions_message_id":"a"'),
    file([prompt, list, plain], '"system_prompt_message_id":"","tool_definitions_message_id":""'),
    file([message('b', 'user', 'SystemPromptMessage'), plain], both),
  ]
  for (const start of cases) {
    await same(start, [
      { do: 'specials' },
      { do: 'sequenceWindow', count: 1 },
      { do: 'tokenWindow', budget: 0 },
      { do: 'fork' },
      { do: 'stripThinking' },
    ])
  }
})

test('optional fields of a file get the same defaults', needsReference, async () => {
  const prelude = [
    { do: 'append', anchor: 'messages', message: '{"content":[{"type":"text","text":"x"}],"id":"a"}' },
    { do: 'append', anchor: 'messages', message: '{"role":"user","id":"b"}' },
  ]
  const start = (fields) => ({
    uuid: '20010203-x',
    files: {
      'session.json': '{"uuid":"20010203-x","active_context_id":"c","kept":[1E2]}',
      'c.json': contextFile('c', { system: null, tools: null, prelude, bare: true, ...fields }),
    },
  })
  const steps = [
    { do: 'count', encodings: ['cl100k_base'] },
    { do: 'specials' },
    append('one'),
    { do: 'sequenceWindow', count: 1 },
    { do: 'save' },
  ]
  await same(start({}), steps)
  // A special message without a role gets the role of its type.
  await same(
    start({ system: '{"id":"s","_type":"SystemPromptMessage","content":[{"type":"text","text":"x"}]}' }),
    steps,
  )
  await same(start({ tools: '{"id":"t","_type":"ToolDefinitionsMessage","content":[]}' }), steps)
})

test('a special message that a context already has is not replaced in a fork', needsReference, async () => {
  const list =
    '{"id":"t","role":"tool","_type":"ToolDefinitionsMessage","content":[{"type":"tool","name":"f","description":"","parameters":{"minimum":1.0,"maximum":1e16}}]}'
  const prelude = [{ do: 'append', anchor: 'messages', message: '{"role":"user","id":"m","content":[]}' }]
  const start = {
    uuid: '20010203-x',
    files: {
      'session.json': sessionFile('20010203-x', 'c'),
      'c.json': contextFile('c', { system: null, tools: list, prelude }),
    },
  }
  await same(start, [
    { do: 'fork', tools: 'same' },
    { do: 'count', on: 1, encodings: ['cl100k_base'] },
  ])
})

test('a fork without a replaced special message keeps its home anchor', needsReference, async () => {
  await same({ system: system({ content: [] }) }, [
    { do: 'addAnchor', name: 'pinned', index: 1, after: false },
    { do: 'fork', start: 2, end: 5, system: system({ id: 's2', content: [] }) },
  ])
})
