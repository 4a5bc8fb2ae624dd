// Adapters that are synchronous, asynchronous, failing, or wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { shown, text } from '../support/values.mjs'

const { Session, SystemPromptMessage } = await load('peteos-session')

const bytes = (value) => new TextEncoder().encode(value)

/** A working adapter on a Map; `answer` determines how each method returns its value. */
function adapter(answer, files = new Map()) {
  const list = (directory) => {
    const inside = [...files.keys()].filter((path) => path.startsWith(`${directory}/`))
    return [...new Set(inside.map((path) => path.slice(directory.length + 1).split('/')[0]))]
  }
  return {
    read: (path) => answer(() => files.get(path) ?? null),
    write: (path, data) => answer(() => void files.set(path, data.slice())),
    list: (directory) => answer(() => list(directory)),
    remove: (path) => answer(() => void files.delete(path)),
  }
}

const ANSWERS = {
  synchronous: (work) => work(),
  asynchronous: async (work) => work(),
  late: (work) => new Promise((resolve) => setTimeout(() => resolve(work()), 1)),
  thenable: (work) => ({ then: (resolve) => resolve(work()) }),
  'undefined for absent': (work) => work() ?? undefined,
}

for (const [kind, answer] of Object.entries(ANSWERS)) {
  test(`an adapter whose results are ${kind} works`, async () => {
    const storage = adapter(answer)
    const session = Session.create('a', { storage })
    session.activeContext.append(text('Hi'))
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict)
    assert.deepEqual(await again.listContexts(), [session.activeContextId])
    assert.deepEqual(
      (await Session.list('a', { storage })).map(({ uuid }) => uuid),
      [session.uuid],
    )
    await refused(() => Session.load('a', 'none', { storage }), 'SessionNotFoundError')
  })
}

test('an adapter may be a class instance, have methods only on its prototype, and use this', async () => {
  const session = Session.create('a', { storage: new (class extends RecordingStorage {})() })
  await session.save()
  const inherited = Object.create(adapter(ANSWERS.synchronous))
  await Session.create('a', { storage: inherited }).save()
})

test('write gets a Uint8Array that does not change later', async () => {
  const given = []
  const storage = adapter(ANSWERS.asynchronous)
  storage.write = async (_path, data) => {
    assert.ok(data instanceof Uint8Array)
    assert.equal(data.byteOffset, 0)
    given.push([data, Buffer.from(data).toString()])
  }
  const session = Session.create('a', { storage })
  for (let round = 0; round < 30; round++) {
    session.activeContext.append(text('x'.repeat(200_000)))
    await session.save()
  }
  for (const [data, before] of given) assert.equal(Buffer.from(data).toString(), before)
})

test('read may return any Uint8Array: a Buffer, a part of a buffer, one of another realm', async () => {
  const files = new Map()
  const session = Session.create('a', { storage: adapter(ANSWERS.synchronous, files) })
  session.activeContext.append(text('Hi'))
  await session.save()
  const padded = (data) => Uint8Array.from([1, 2, 3, ...data, 4, 5]).subarray(3, data.length + 3)
  const foreign = (data) => {
    const copy = runInNewContext(`new Uint8Array(${data.length})`)
    copy.set(data)
    return copy
  }
  const shared = (data) => {
    const copy = new Uint8Array(new SharedArrayBuffer(data.length))
    copy.set(data)
    return copy
  }
  for (const make of [(data) => Buffer.from(data), padded, foreign, shared]) {
    const storage = adapter(ANSWERS.asynchronous, files)
    storage.read = async (path) => (files.has(path) ? make(files.get(path)) : null)
    const again = await Session.load('a', session.uuid, { storage })
    assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict, String(make))
  }
})

test('the bytes that read returned may be changed afterwards', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  session.activeContext.append(text('Hi'))
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  for (const data of storage.files.values()) data.fill(0)
  assert.equal(again.activeContext.messages[0].content[0].text, 'Hi')
})

/** Invalid results of read. */
const NO_BYTES = () => [
  'text',
  '',
  5,
  0,
  true,
  false,
  {},
  [],
  [1, 2],
  new ArrayBuffer(2),
  new DataView(new ArrayBuffer(2)),
  new Uint16Array(2),
  new Float64Array(1),
  Symbol('x'),
  5n,
  () => bytes('{}'),
  new Date(),
  { length: 2, 0: 123, 1: 125 },
  Promise.resolve('text'),
  Promise.resolve(Promise.resolve(5)),
  new Blob(['{}']),
]

test('an invalid result of read is a StorageError that describes it', async () => {
  for (const wrap of [(value) => value, async (value) => value]) {
    for (const value of NO_BYTES()) {
      const storage = new RecordingStorage()
      storage.read = () => wrap(value)
      await refused(
        () => Session.load('a', 's', { storage }),
        'StorageError',
        { operation: 'read', path: 'a/s/session.json', message: /Uint8Array/ },
        shown(value),
      )
    }
  }
})

test('an invalid result of list is a StorageError that describes it', async () => {
  for (const value of [
    null,
    undefined,
    'a',
    5,
    {},
    { length: 0 },
    new Set(['a']),
    [1],
    ['a', null],
    [['a']],
    Promise.resolve(5),
  ]) {
    const storage = new RecordingStorage()
    storage.list = () => value
    await refused(
      () => Session.list('a', { storage }),
      'StorageError',
      { operation: 'list', path: 'a', message: /array/ },
      shown(value),
    )
    const session = Session.create('a', { storage })
    await refused(() => session.listContexts(), 'StorageError', { operation: 'list' })
  }
})

test('the result of write is ignored', async () => {
  for (const value of [undefined, null, false, 5, 'no', {}, Promise.resolve(0)]) {
    const storage = new RecordingStorage()
    storage.write = (path, data) => {
      storage.put(path, data.slice())
      return value
    }
    const session = Session.create('a', { storage })
    await session.save()
    assert.ok(await Session.load('a', session.uuid, { storage }))
  }
})

const THROWN = () => [
  [Object.assign(new Error('no space'), { code: 'ENOSPC' }), 'ENOSPC', /no space/],
  [Object.assign(new TypeError('denied'), { code: 'EACCES' }), 'EACCES', /denied/],
  [new Error('plain'), 'EIO', /plain/],
  [new DOMException('full', 'QuotaExceededError'), 'ENOSPC', /full/],
  [new DOMException('denied', 'NotAllowedError'), 'EACCES', /denied/],
  [new DOMException('busy', 'NoModificationAllowedError'), 'EBUSY', /busy/],
  ['a string', 'EIO', /a string/],
  [{ code: 'EROFS' }, 'EROFS', /./],
  [{ code: 5, message: 7 }, 'EIO', /./],
  [undefined, 'EIO', /./],
  [null, 'EIO', /./],
  [0, 'EIO', /./],
  [Symbol('x'), 'EIO', /./],
]

const FAILURES = {
  'throws synchronously': (error) => () => {
    throw error
  },
  rejects: (error) => async () => {
    throw error
  },
  'rejects late': (error) => () => new Promise((_, reject) => setTimeout(() => reject(error), 1)),
  'has a then that throws': (error) => () => ({
    then() {
      throw error
    },
  }),
}

for (const [kind, failing] of Object.entries(FAILURES)) {
  test(`an adapter that ${kind}: StorageError with cause and code, and the next call succeeds`, async () => {
    for (const [cause, code, message] of THROWN()) {
      const storage = new RecordingStorage()
      const session = Session.create('a', { storage, systemPromptMessage: SystemPromptMessage.create('s') })
      const context = session.activeContext
      context.append(text('Hi'))
      const before = [session.rawDict, context.rawDict]
      const path = `${session.sessionDir}/${context.id}.json`
      storage.write = failing(cause)
      const error = await refused(
        () => session.save(),
        'StorageError',
        { operation: 'write', path, code, message },
        shown(cause),
      )
      assert.equal(error.cause, cause)
      assert.ok(error.message.includes(path))
      assert.deepEqual([session.rawDict, context.rawDict], before)
      assert.equal(session.activeContext, context)
      delete storage.write
      await session.save()
      storage.read = failing(cause)
      await refused(() => Session.load('a', session.uuid, { storage }), 'StorageError', {
        operation: 'read',
        path: `a/${session.uuid}/session.json`,
        code,
        message,
      })
      await refused(() => session.loadContext('other'), 'StorageError', { operation: 'read', code })
      delete storage.read
      storage.list = failing(cause)
      await refused(() => Session.list('a', { storage }), 'StorageError', {
        operation: 'list',
        path: 'a',
        code,
        message,
      })
      await refused(() => session.listContexts(), 'StorageError', { operation: 'list', path: session.sessionDir, code })
      delete storage.list
      const again = await Session.load('a', session.uuid, { storage })
      assert.deepEqual(again.activeContext.rawDict, context.rawDict)
    }
  })
}

test('an error whose own properties throw is still the cause of a StorageError', async () => {
  const hostile = {
    'a code that throws': {
      get code() {
        throw new Error('code')
      },
    },
    'a message that throws': {
      get message() {
        throw new Error('message')
      },
    },
    'a name that throws': {
      get name() {
        throw new Error('name')
      },
    },
    'a proxy that throws': new Proxy(
      {},
      {
        get(_, key) {
          if (key !== 'then') throw new Error(String(key))
        },
      },
    ),
  }
  for (const [name, cause] of Object.entries(hostile)) {
    const storage = new RecordingStorage()
    storage.write = () => {
      throw cause
    }
    const session = Session.create('a', { storage })
    const error = await refused(() => session.save(), 'StorageError', { operation: 'write' }, name)
    assert.equal(error.cause, cause, name)
  }
})

test('a value that is not a storage adapter is refused before it is called', async () => {
  const whole = adapter(ANSWERS.synchronous)
  const wrong = [
    null,
    5,
    'x',
    true,
    Symbol('x'),
    {},
    [],
    { ...whole, read: undefined },
    { ...whole, write: 'x' },
    { ...whole, list: null },
    { ...whole, remove: {} },
    {
      ...whole,
      get read() {
        return 5
      },
    },
  ]
  for (const storage of wrong) {
    const expected = { argument: /^options\.storage/ }
    refusedNow(() => Session.create('a', { storage }), 'InvalidArgumentError', expected, shown(storage))
    await refused(() => Session.load('a', 's', { storage }), 'InvalidArgumentError', expected, shown(storage))
    await refused(() => Session.list('a', { storage }), 'InvalidArgumentError', expected, shown(storage))
  }
})

test('modifiedTime is optional, and its result is checked', async () => {
  const storage = new RecordingStorage({ 'a/s/session.json': '{}' })
  const modifiedAt = async () => (await Session.list('a', { storage }))[0].modifiedAt
  assert.equal(await modifiedAt(), null)
  storage.modifiedTime = () => 1234
  assert.deepEqual(await modifiedAt(), new Date(1234))
  storage.modifiedTime = async () => 5678.9
  assert.equal((await modifiedAt()).getTime(), 5678)
  for (const value of [null, undefined, NaN, Infinity, 'x', {}]) {
    storage.modifiedTime = () => value
    assert.equal(await modifiedAt(), null, shown(value))
  }
})

// A mistake here would leave a promise pending forever, or stop the other tests: each runs in a process of its own.
const STRANGE_ANSWERS = {
  'read gives an array whose buffer went to a worker': `storage.read = async () => {
    const data = new TextEncoder().encode('{}')
    structuredClone(data.buffer, { transfer: [data.buffer] })
    return data
  }`,
  'read gives a view that is out of bounds': `storage.read = async () => {
    const buffer = new ArrayBuffer(8, { maxByteLength: 16 })
    const data = new Uint8Array(buffer, 4, 4)
    buffer.resize(2)
    return data
  }`,
  'read gives a proxy of an array': `storage.read = async () => new Proxy(new Uint8Array(2), {})`,
  'read gives an array with a wrong length': `storage.read = async () =>
    Object.defineProperty(new Uint8Array(2), 'length', { value: 4294967295 })`,
  'read gives an array whose properties throw': `storage.read = async () =>
    Object.defineProperties(new Uint8Array(2), { length: { get() { throw 1 } }, buffer: { get() { throw 2 } },
      BYTES_PER_ELEMENT: { get() { throw 3 } } })`,
  'list gives an array whose elements throw': `storage.list = async () =>
    new Proxy(['a', 'b'], { get(target, key) { if (key === '1') throw new Error('1'); return target[key] } })`,
  'list gives an array whose length throws': `storage.list = async () =>
    new Proxy(['a'], { get(target, key) { if (key === 'length') throw new Error('length'); return target[key] } })`,
  'list gives an array that says to be endless': `storage.list = async () =>
    new Proxy(['a'], { get(target, key) { return key === 'length' ? -5 : target[key] } })`,
  'list gives an array of another realm': `storage.list = async () => runInNewContext('["a"]')`,
  'read changes itself': `storage.read = async function () { storage.read = undefined; return null }`,
  'write becomes no function': `storage.write = 5`,
  'modifiedTime throws when it is looked up': `storage.files.set('a/s/session.json', new TextEncoder().encode('{}'))
    Object.defineProperty(storage, 'modifiedTime', { get() { throw new Error('no') } })`,
}

for (const [name, change] of Object.entries(STRANGE_ANSWERS)) {
  test(`${name}: every call settles, and later calls work`, async () => {
    const output = await runModule(
      `
      import { runInNewContext } from 'node:vm'
      import { Session, SessionError } from 'peteos-session'
      import { RecordingStorage } from ${JSON.stringify(new URL('../support/storages.mjs', import.meta.url).href)}
      process.on('uncaughtException', (error) => { console.log('uncaught ' + error); process.exit(3) })
      process.on('exit', (code) => { if (code === 13) console.log('a promise was never settled') })
      const storage = new RecordingStorage()
      const session = Session.create('a', { storage })
      ${change}
      const calls = [() => Session.load('a', 's', { storage }), () => Session.list('a', { storage }), () => session.save(),
        () => session.listContexts(), () => session.loadContext('c')]
      for (const call of calls) {
        await call().catch((error) => { if (!(error instanceof SessionError)) throw error })
      }
      const good = new RecordingStorage()
      const other = Session.create('b', { storage: good })
      other.activeContext.append({ role: 'user' })
      await other.save()
      const again = await Session.load('b', other.uuid, { storage: good })
      console.log(again.activeContext.messageCount, (await Session.list('b', { storage: good })).length)
    `,
      { timeoutSeconds: 20 },
    )
    assert.equal(output.trim(), '1 1')
  })
}
