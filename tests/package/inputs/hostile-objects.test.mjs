// Objects with side effects when they are read, and calls with an exhausted stack: no trap, and nothing is left half done.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkError, refusedNow } from '../support/errors.mjs'
import { runModule } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { revoked, text } from '../support/values.mjs'

const {
  Context,
  ContentPart,
  Message,
  Session,
  SystemPromptMessage,
  ToolDefinitionsMessage,
  countTokens,
  encodingForModel,
  fromMessages,
  toMessages,
} = await load('peteos-session')

function example() {
  const session = Session.create('a', { storage: new RecordingStorage() })
  session.activeContext.append(text('1'))
  session.activeContext.append(text('2'))
  return { session, context: session.activeContext }
}

const throwing = () =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('get')
      },
      has() {
        throw new Error('has')
      },
      ownKeys() {
        throw new Error('ownKeys')
      },
      getPrototypeOf() {
        throw new Error('getPrototypeOf')
      },
      getOwnPropertyDescriptor() {
        throw new Error('getOwnPropertyDescriptor')
      },
    },
  )

const HOSTILE = {
  'a revoked proxy': revoked,
  'a proxy that throws': throwing,
  'an object whose toString and valueOf throw': () => ({
    toString() {
      throw new Error('x')
    },
    valueOf() {
      throw new Error('x')
    },
  }),
  'an object whose toJSON throws': () => ({
    toJSON() {
      throw new Error('x')
    },
  }),
}

for (const [name, make] of Object.entries(HOSTILE)) {
  test(`${name} is refused wherever it is passed`, () => {
    const { session, context } = example()
    const before = [session.rawDict, context.rawDict]
    const { id } = context.messages[0]
    const synchronous = {
      'Session.create parentDir': () => Session.create(make()),
      'Context.fromDict': () => Context.fromDict(make()),
      append: () => context.append(make()),
      'append anchorPoint': () => context.append(text('x'), make()),
      'a role': () => context.append({ role: make() }),
      'a part': () => context.append({ role: 'user', content: [make()] }),
      metadata: () => context.append({ role: 'user', metadata: { deep: [make()] } }),
      'updateMessage id': () => context.updateMessage(make(), {}),
      'updateMessage changes': () => context.updateMessage(id, make()),
      'addAnchor name': () => context.addAnchor(make(), 0),
      'addAnchor index': () => context.addAnchor('n', make()),
      'addAnchor afterExisting': () => context.addAnchor('n', 0, { afterExisting: make() }),
      'fork start': () => context.fork({ start: make() }),
      'fork systemPromptMessage': () => context.fork({ systemPromptMessage: make() }),
      'Context.create toolDefinitionsMessage': () => Context.create({ toolDefinitionsMessage: make() }),
      'Context.create parentContext': () => Context.create({ parentContext: make() }),
      'rollingSequenceWindow count': () => context.rollingSequenceWindow(make()),
      'rollingTokenWindow maxTokens': () => session.rollingTokenWindow(make()),
      'rollingTokenWindow encoding': () => context.rollingTokenWindow(1, make()),
      'planSequenceWindow boundary': () => context.planSequenceWindow(1, { boundary: make() }),
      'tokenCounts encoding': () => context.tokenCounts(make()),
      'countTokens text': () => countTokens(make()),
      'countTokens encoding': () => countTokens('x', make()),
      encodingForModel: () => encodingForModel(make()),
      'toMessages context': () => toMessages(make(), 'gemini'),
      'toMessages provider': () => toMessages(context, make()),
      'toMessages options': () => toMessages(context, 'gemini', { repair: make() }),
      'fromMessages value': () => fromMessages(make(), 'gemini'),
      'fromMessages provider': () => fromMessages([], make()),
      setActiveContext: () => session.setActiveContext(make()),
      autoApproveTools: () => {
        session.autoApproveTools = make()
      },
      'an element of autoApproveTools': () => {
        session.autoApproveTools = ['a', make()]
      },
      isActive: () => {
        session.isActive = make()
      },
      'session.rawDict': () => {
        session.rawDict = make()
      },
      'context.rawDict': () => {
        context.rawDict = make()
      },
      'state.create': () => session.state.create('n', make()),
      'state.get': () => session.state.get(make()),
      'Message.create role': () => Message.create(make()),
      'Message.create parts': () => Message.create('user', make()),
      'SystemPromptMessage.create': () => SystemPromptMessage.create(make()),
      'ToolDefinitionsMessage.create': () => ToolDefinitionsMessage.create([make()]),
      toolUse: () => ContentPart.toolUse('c', 'f', make()),
    }
    const faults = []
    const note = (call, error) => {
      try {
        checkError(
          error,
          error?.name === 'InvalidMessageError' ? 'InvalidMessageError' : 'InvalidArgumentError',
          {},
          call,
        )
      } catch (fault) {
        faults.push(fault.message.split('\n')[0])
      }
    }
    for (const [call, work] of Object.entries(synchronous)) {
      try {
        work()
        faults.push(`${call}: was taken`)
      } catch (error) {
        note(call, error)
      }
    }
    assert.deepEqual(faults, [])
    assert.deepEqual([session.rawDict, context.rawDict], before)
  })
}

// A mistake here would leave a promise pending forever, or stop the other tests: each runs in a process of its own.
const ASYNCHRONOUS = {
  'Session.load parentDir': 'Session.load(hostile, "s")',
  'Session.load uuid': 'Session.load("a", hostile, { storage })',
  'Session.list': 'Session.list(hostile, { storage })',
  loadContext: 'session.loadContext(hostile)',
  loadEncoding: 'loadEncoding(hostile)',
}

for (const [name, call] of Object.entries(ASYNCHRONOUS)) {
  test(`${name} with a hostile object settles, and later calls work`, async () => {
    const output = await runModule(
      `
      import { MemoryStorage, Session, loadEncoding } from 'peteos-session'
      process.on('uncaughtException', (error) => { console.log('uncaught ' + error); process.exit(3) })
      process.on('exit', (code) => { if (code === 13) console.log('a promise was never settled') })
      const storage = new MemoryStorage()
      const session = Session.create('a', { storage })
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      const fail = () => { throw new Error('no') }
      for (const hostile of [proxy, new Proxy({}, { get: fail, getPrototypeOf: fail, ownKeys: fail }), { toString: fail, valueOf: fail, toJSON: fail }]) {
        const error = await ${call}.catch((error) => error)
        if (error?.name !== 'InvalidArgumentError') throw error
      }
      await session.save()
      console.log((await Session.list('a', { storage })).length)
    `,
      { timeoutSeconds: 20 },
    )
    assert.equal(output.trim(), '1')
  })
}

test('options that throw when they are read are refused', async () => {
  const { session, context } = example()
  const before = [session.rawDict, context.rawDict]
  const getter = {
    get boundary() {
      throw new Error('boundary')
    },
  }
  for (const options of [throwing(), getter, revoked()]) {
    for (const call of [
      () => context.planSequenceWindow(1, options),
      () => context.planTokenWindow(1, 'gpt2', options),
      () => session.rollingSequenceWindow(1, options),
      () => context.rollingTokenWindow(1, 'gpt2', options),
    ]) {
      refusedNow(call, 'InvalidArgumentError', { argument: /^options/ })
    }
  }
  assert.deepEqual([session.rawDict, context.rawDict], before)
})

/** Values of a getter, and whether a message can hold them. */
const READINGS = [
  { give: () => 'fine', isJson: true },
  { give: () => undefined, isJson: true },
  { give: () => NaN },
  { give: () => 5n },
  { give: () => () => 1 },
  { give: () => new Map() },
  { give: () => ({ a: NaN }) },
  {
    give: () => {
      throw new Error('x')
    },
  },
]

test('a message that changes while it is read is stored as it was at one reading, or refused', () => {
  const { context } = example()
  const written = ({ give }) => {
    try {
      return JSON.stringify({ value: give() })
    } catch {
      return 'nothing'
    }
  }
  for (const first of READINGS) {
    for (const second of READINGS) {
      let count = 0
      const metadata = {
        get value() {
          return (count++ === 0 ? first : second).give()
        },
      }
      const append = () => context.append({ role: 'user', metadata })
      const before = context.messageCount
      if (first.isJson && second.isJson) {
        assert.ok([first, second].map(written).includes(JSON.stringify(append().metadata)))
      } else if (!first.isJson) {
        refusedNow(append, 'InvalidMessageError')
      } else {
        // A second reading may not happen; the stored message is JSON in any case.
        let stored
        try {
          stored = append()
        } catch (error) {
          checkError(error, 'InvalidMessageError')
        }
        if (stored) assert.ok([first, second].map(written).includes(JSON.stringify(stored.metadata)))
      }
      assert.ok([before, before + 1].includes(context.messageCount))
    }
  }
})

test('messages may change the context while they are read', async () => {
  const { session, context } = example()
  const message = {
    role: 'user',
    get content() {
      context.append(text('from the getter'))
      context.addAnchor(`a${context.messageCount}`, 0)
      session.rollingSequenceWindow(1)
      session.setActiveContext(context)
      return [{ type: 'text', text: String(context.messages.length) }]
    },
    metadata: {
      toJSON() {
        context.append(text('from toJSON'))
        return { a: 1 }
      },
    },
  }
  const stored = context.append(message)
  assert.equal(context.messages.at(-1), stored)
  assert.deepEqual(stored.metadata, { a: 1 })
  const numbers = context.messages.map((entry) => entry._sequence_number)
  assert.equal(new Set(numbers).size, numbers.length)
  assert.equal(context.anchorPoints.find(([name]) => name === 'messages')[1], context.messageCount)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage: session.storage })
  assert.deepEqual(again.activeContext.rawDict, context.rawDict)
})

test('objects with toJSON are converted as by JSON.stringify', () => {
  const { context } = example()
  assert.equal(context.append({ toJSON: () => text('x') }).content[0].text, 'x')
  for (const value of [undefined, null, 5, 'x', []])
    refusedNow(() => context.append({ toJSON: () => value }), 'InvalidMessageError')
  assert.equal(
    context.append({ role: 'user', metadata: { toJSON: () => ({ a: new Date(0) }) } }).metadata.a,
    new Date(0).toJSON(),
  )
})

test('a Context that is freed during a call is a DisposedError', () => {
  const { context } = example()
  const message = {
    role: 'user',
    get content() {
      context.free()
      return []
    },
  }
  refusedNow(() => context.append(message), 'DisposedError')
})

test('hostile objects do not use up the stack of WebAssembly', async () => {
  // An exception that passes through WebAssembly does not release the stack that was in use.
  const output = await runModule(`
    import { Context, Session, MemoryStorage, countTokens } from 'peteos-session'
    Error.stackTraceLimit = 0
    const context = Context.create()
    context.append({ role: 'user' })
    context.append({ role: 'user' })
    const proxy = new Proxy({}, { ownKeys() { throw new Error('x') }, get() { throw new Error('x') }, getPrototypeOf() { throw new Error('x') } })
    const { proxy: gone, revoke } = Proxy.revocable({}, {})
    revoke()
    const calls = [
      () => context.planSequenceWindow(1, proxy), () => context.planSequenceWindow(1, gone), () => context.planSequenceWindow(gone),
      () => context.append({ role: 'user' }, gone), () => context.addAnchor(gone, 0), () => context.fork({ start: gone }), () => countTokens(gone),
      () => context.append(gone), () => context.planSequenceWindow(1, { get boundary() { throw new Error('x') } }),
      () => context.planSequenceWindow(-1), () => context.append({ role: 'robot' }), () => countTokens('x', 'nope'),
    ]
    let traps = 0
    for (let round = 0; round < 3000; round++) {
      for (const call of calls) {
        try { call() } catch (error) { if (error instanceof WebAssembly.RuntimeError) traps++ }
      }
    }
    const session = Session.create('a', { storage: new MemoryStorage() })
    session.setActiveContext(context)
    await session.save()
    console.log(traps, context.messageCount, session.rollingSequenceWindow(1).messageCount, countTokens('Hello, world!'))
  `)
  assert.equal(output.trim(), '0 2 1 4')
})

test('a mocked clock is used', async () => {
  const output = await runModule(`
    import { mock } from 'node:test'
    import { Session, MemoryStorage } from 'peteos-session'
    mock.timers.enable({ apis: ['Date'], now: new Date(2031, 1, 3, 4, 5, 6, 7).getTime() })
    const session = Session.create('a', { storage: new MemoryStorage() })
    console.log(session.uuid.slice(0, 8), session.activeContext.append({ role: 'user' }).creation_timestamp)
  `)
  assert.equal(output.trim(), '20310203 2031-02-03T04:05:06.007000')
})
