// Arguments and options of the wrong kind: a typed error that names the argument, and nothing has changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { fileText } from '../support/text.mjs'
import { example, unchanged } from '../support/unchanged.mjs'
import { NO_COUNTS, NO_IDS, NO_STRINGS, shown, text } from '../support/values.mjs'

const { Context, Session, SystemPromptMessage } = await load('peteos-session')

test('a count or a budget that is not a non-negative integer is refused', async () => {
  const all = example()
  const { session, context } = all
  await unchanged(all, () => {
    for (const value of NO_COUNTS) {
      for (const owner of [session, context]) {
        refusedNow(
          () => owner.rollingSequenceWindow(value),
          'InvalidArgumentError',
          { argument: 'count', message: /count: expected a non-negative integer/ },
          shown(value),
        )
        refusedNow(
          () => owner.rollingTokenWindow(value),
          'InvalidArgumentError',
          { argument: 'maxTokens', message: /maxTokens: expected a non-negative integer/ },
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

test('a bound of a fork that is not an integer is refused', async () => {
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

test('a name, a flag, a list of tools or a context of the wrong type is refused', async () => {
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

test('options that are not an object are refused; null stands for none', async () => {
  const { session, context, storage } = example()
  const calls = {
    'Session.create': (options) => Session.create('a', options),
    'Session.load': (options) => Session.load('a', 'none', options),
    'Session.list': (options) => Session.list('a', options),
    'Session.check': (options) => Session.check('a', 'none', options),
    'Session.repair': (options) => Session.repair('a', 'none', options),
    'Context.create': (options) => Context.create(options),
    save: (options) => session.save(options),
    fork: (options) => context.fork(options),
    addAnchor: (options) => context.addAnchor('n', 0, options),
    rollingSequenceWindow: (options) => context.rollingSequenceWindow(99, options),
    'session.rollingSequenceWindow': (options) => session.rollingSequenceWindow(99, options),
    planSequenceWindow: (options) => context.planSequenceWindow(99, options),
  }
  storage.takeCalls()
  for (const [name, call] of Object.entries(calls)) {
    for (const options of ['x', 5, 5n, true, () => ({}), Symbol('x')]) {
      await refused(
        call.bind(null, options),
        'InvalidArgumentError',
        { argument: 'options' },
        `${name}(${shown(options)})`,
      )
    }
  }
  assert.deepEqual(
    [storage.calls, session.activeContext, context.children, context.anchorPoints.length],
    [[], context, [], 3],
  )

  for (const load of [Session.load, Session.check, Session.repair]) {
    await refused(() => load.call(Session, 'a', 'none', null), 'SessionNotFoundError', { code: 'ENOENT' })
  }
  assert.equal(Session.create('a', null).activeContext.messageCount, 0)
  assert.deepEqual(await Session.list('a', null), [])
  assert.equal(Context.create(null).messageCount, 0)
  assert.equal(context.fork(null).messageCount, 3)
  assert.equal(context.rollingSequenceWindow(99, null), null)
})

test('an onError that is not a function is refused', async () => {
  await refused(
    () => Session.list('a', { storage: new RecordingStorage({ 'a/x/session.json': '' }), onError: 'x' }),
    'InvalidArgumentError',
    { argument: 'options.onError' },
  )
})

test('an unknown option is refused by name, so that a misspelt one is not ignored', async () => {
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

test('inherited options count', async () => {
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

test('a parent directory or a uuid that is not a string is refused before anything is read', async () => {
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

test('an id that is not a plain file name is refused before anything is read', async () => {
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

test('a dict that is not an object is refused', () => {
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

const LAST = Number.MAX_SAFE_INTEGER

/** Contexts whose counters have reached their maximum. */
const AT_THE_END = [
  { message_sequence: LAST, _mutation_counter: LAST },
  { _mutation_counter: LAST },
  { message_sequence: LAST },
  { messages: [{ id: 'm', role: 'user', _sequence_number: LAST }] },
  { messages: [{ id: 'm', role: 'user', _sequence_number: LAST }], _mutation_counter: 0 },
]

test('a context whose counters have reached their maximum refuses to grow, and a fork of it can grow', () => {
  for (const fields of AT_THE_END) {
    const context = Context.fromDict({ id: 'c', messages: [], ...fields })
    const about = JSON.stringify(fields)
    const before = context.rawDict
    refusedNow(
      () => context.append(text('x')),
      'InvalidArgumentError',
      { argument: 'message', message: /counter.*fork/ },
      about,
    )
    refusedNow(
      () => context.addAnchor('a', 0),
      'InvalidArgumentError',
      { argument: 'name', message: /counter.*fork/ },
      about,
    )
    assert.deepEqual(context.rawDict, before, about)
    assert.ok(Number.isSafeInteger(before._mutation_counter), about)
    const fork = context.fork()
    fork.append(text('x'))
    assert.equal(fork.messages.at(-1).content[0].text, 'x', about)
  }
})

test('a session whose counters have reached their maximum can be saved and loaded', async () => {
  for (const fields of AT_THE_END) {
    const storage = new RecordingStorage({
      'a/s/session.json': '{"active_context_id": "c"}',
      'a/s/c.json': fileText({ id: 'c', messages: [], ...fields }),
    })
    const session = await Session.load('a', 's', { storage })
    refusedNow(() => session.activeContext.append(text('x')), 'InvalidArgumentError', { argument: 'message' })
    session.state.create('note', 'changed')
    await session.save()
    const again = await Session.load('a', 's', { storage })
    assert.equal(again.state.get('note'), 'changed')
    assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict, JSON.stringify(fields))
  }
})
