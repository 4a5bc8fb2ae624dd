// Limits on files: they hold at an append and a save first, so that what was written can be read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { Context, FileTooLargeError, fromMessages, MemoryStorage, Session } = await load('peteos-session')

const embedding = (length, seed = 0) => ({
  role: 'user',
  content: [{ type: 'embedding', vector: Array.from({ length }, (_, index) => Math.sin(index + seed)) }],
})

const appendUntilRefused = (context, make) => {
  for (let count = 0; count < 100_000; count++) {
    const before = JSON.stringify(context)
    try {
      context.append(make(count))
    } catch (error) {
      assert.equal(JSON.stringify(context), before, 'nothing has changed')
      return { count, error }
    }
  }
  return assert.fail('no append was refused')
}

const MESSAGES = {
  'short texts': (count) => text(`${count}`),
  'texts with escapes': (count) => text('é\u0001"\\😀\n'.repeat(1 + (count % 7))),
  embeddings: (count) => embedding(20, count),
  'messages that are complete': (count) => ({
    ...text('x'),
    id: `m${count}`,
    creation_timestamp: '2026-01-01T00:00:00.000000',
    metadata: { a: [[], {}, [1, [2, [3]]]] },
  }),
}

for (const [what, make] of Object.entries(MESSAGES)) {
  for (const limits of [
    { maxFileBytes: 20_000 },
    { maxFileValues: 900 },
    { maxFileBytes: 30_000, maxFileValues: 600 },
  ]) {
    test(`${what} are appended as long as their file can be read: ${JSON.stringify(limits)}`, async () => {
      const storage = new MemoryStorage()
      const session = Session.create('a', { storage, ...limits })
      const { count, error } = appendUntilRefused(session.activeContext, make)
      assert.ok(error instanceof FileTooLargeError)
      assert.equal(error.path, `${session.activeContextId}.json`)
      assert.equal(error.limit, limits[error.option])
      assert.ok(error.size > error.limit)
      assert.match(error.message, new RegExp(`${error.size} .*${error.limit}; raise options.${error.option} `))
      await session.save()
      const again = await Session.load('a', session.uuid, { storage, ...limits })
      assert.equal(again.activeContext.messageCount, count)
      assert.equal((await Session.check('a', session.uuid, { storage, ...limits })).ok, true)
      // The limit is used: one more message does not fit.
      if (error.option === 'maxFileBytes') {
        const { length } = await storage.read(`${session.sessionDir}/${session.activeContextId}.json`)
        const more = Session.create('a', { storage })
        more.activeContext.append(make(count))
        const bytes = JSON.stringify(more.activeContext.messages[0], null, 2).length * 6
        assert.ok(length + bytes + 100 > limits.maxFileBytes, `${length} of ${limits.maxFileBytes}`)
      }
      // A loaded session refuses it as well, and a window has room again.
      await refused(() => again.activeContext.append(make(count)), 'FileTooLargeError', { option: error.option })
      const window = again.rollingSequenceWindow(2)
      window.append(make(count))
      await again.save()
      assert.equal((await Session.load('a', session.uuid, { storage, ...limits })).activeContext.messageCount, 3)
    })
  }
}

test('3,300 embeddings of 1,536 numbers are refused at the append that goes beyond the limit, or accepted with a higher one', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  const message = embedding(1536)
  const { count, error } = appendOnly(session.activeContext, message, 3300)
  assert.ok(count > 3000 && count < 3300)
  assert.deepEqual(
    [error.name, error.code, error.option, error.limit],
    ['FileTooLargeError', 'ERR_FILE_TOO_LARGE', 'maxFileValues', 5_000_000],
  )
  assert.match(error.message, /would have 50\d{5} values, more than the limit of 5000000; raise options\.maxFileValues/)
  const more = Session.create('a', { storage, maxFileValues: 6_000_000 })
  assert.equal(appendOnly(more.activeContext, message, 3300).error, undefined)
  await more.save()
  await refused(() => Session.load('a', more.uuid, { storage }), 'FileTooLargeError', {
    option: 'maxFileValues',
    size: null,
  })
  const { findings } = await Session.check('a', more.uuid, { storage })
  assert.deepEqual(
    findings.map(({ rule }) => rule),
    ['file-too-large'],
  )
  assert.match(findings[0].message, /more values than the limit of 5000000; raise options.maxFileValues/)
  const again = await Session.load('a', more.uuid, { storage, maxFileValues: 6_000_000 })
  assert.equal(again.activeContext.messageCount, 3300)
})

function appendOnly(context, message, most) {
  for (let count = 0; count < most; count++) {
    try {
      context.append(message)
    } catch (error) {
      return { count, error }
    }
  }
  return { count: most }
}

test('a save refuses what an append does not count, and writes nothing', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage, maxFileBytes: 2000 })
  session.activeContext.append(text('x'))
  await session.save()
  const files = async () =>
    Promise.all((await storage.list(session.sessionDir)).map((name) => storage.read(`${session.sessionDir}/${name}`)))
  const before = await files()
  session.activeContext.append(text('y'))
  session.state.create('k', 'x'.repeat(3000))
  await refused(() => session.save(), 'FileTooLargeError', {
    path: `${session.sessionDir}/session.json`,
    limit: 2000,
    option: 'maxFileBytes',
  })
  assert.throws(() => session.saveSync(), FileTooLargeError)
  assert.deepEqual(await files(), before)
  // The options of a save replace the limits of the session.
  await session.save({ maxFileBytes: 10_000 })
  const again = await Session.load('a', session.uuid, { storage, maxFileBytes: 10_000 })
  assert.equal(again.activeContext.messageCount, 2)
  session.activeContext.append(text('z'.repeat(3000)))
  await session.save()
})

test('limits hold for contexts of no session, and those of a session hold for the contexts that join it', async () => {
  const small = Context.create({ maxFileBytes: 3000 })
  await refused(() => small.append(text('x'.repeat(3000))), 'FileTooLargeError', { path: `${small.id}.json` })
  const session = Session.create('a', { storage: new MemoryStorage(), maxFileBytes: 10_000 })
  session.setActiveContext(small)
  small.append(text('x'.repeat(3000)))
  const dict = small.rawDict
  await refused(() => Context.fromDict(dict, { maxFileBytes: 3000 }), 'FileTooLargeError', { option: 'maxFileBytes' })
  await refused(() => Context.fromDict(dict, { maxFileValues: 10 }), 'FileTooLargeError', { option: 'maxFileValues' })
  assert.equal(Context.fromDict(dict, { maxFileBytes: 10_000 }).messageCount, 1)
  const fork = small.fork()
  await refused(() => fork.append(text('x'.repeat(9000))), 'FileTooLargeError')
  await refused(() => (small.rawDict = { ...dict, more: 'x'.repeat(9000) }), 'FileTooLargeError')
  assert.deepEqual(small.rawDict, { ...dict, children: [fork.id] })
  const [message] = small.messages
  await refused(() => small.updateMessage(message.id, { metadata: { x: 'x'.repeat(9000) } }), 'FileTooLargeError')
  small.updateMessage(message.id, { content: [{ type: 'text', text: 'y'.repeat(6000) }] })
  small.updateMessage(message.id, { content: [{ type: 'text', text: 'z'.repeat(8000) }] })
  await session.save()
  const messages = [{ role: 'user', content: 'x'.repeat(5000) }]
  await refused(() => fromMessages(messages, 'openai-chat', { maxFileBytes: 4000 }), 'FileTooLargeError')
  assert.equal(fromMessages(messages, 'openai-chat', { maxFileBytes: 8000 }).messageCount, 1)
})

test('a repair neither reads nor writes more than the limits', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  for (let count = 0; count < 20; count++) session.activeContext.append(embedding(20, count))
  await session.save()
  const path = `${session.sessionDir}/${session.activeContextId}.json`
  // Without spaces, and with a fault that can be repaired.
  const dict = JSON.parse(new TextDecoder().decode(await storage.read(path)))
  const compact = new TextEncoder().encode(JSON.stringify({ ...dict, _mutation_counter: 0 }))
  await storage.write(path, compact)
  await refused(
    () => Session.repair('a', session.uuid, { storage, maxFileBytes: compact.length }),
    'FileTooLargeError',
    { path },
  )
  assert.deepEqual(await storage.read(path), compact)
  const { actions } = await Session.repair('a', session.uuid, { storage })
  assert.deepEqual(
    actions.map(({ rule }) => rule),
    ['counter-lags'],
  )
  // A context that exceeds the limit may be the newest one.
  session.rollingSequenceWindow(1)
  await session.save({ onConflict: 'fork' })
  await storage.remove(`${session.sessionDir}/session.json`)
  await refused(() => Session.repair('a', session.uuid, { storage, maxFileValues: 100 }), 'FileTooLargeError', {
    option: 'maxFileValues',
  })
  assert.equal(await storage.read(`${session.sessionDir}/session.json`), null)
})

test('limits are validated', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save()
  const { uuid } = session
  for (const option of ['maxFileBytes', 'maxFileValues']) {
    for (const value of [-1, 0.5, Number.NaN, '5', null, {}]) {
      const limits = { [option]: value }
      const calls = [
        () => Session.create('a', { storage, ...limits }),
        () => Session.load('a', uuid, { storage, ...limits }),
        () => Session.update('a', uuid, () => undefined, { storage, ...limits }),
        () => Session.list('a', { storage, ...limits }),
        () => Session.check('a', uuid, { storage, ...limits }),
        () => Session.repair('a', uuid, { storage, ...limits }),
        () => Session.create('a', { storage }).save(limits),
        () => Context.create(limits),
        () => Context.create({ parentContext: Context.create(), ...limits }),
        () => Context.fromDict({}, limits),
        () => fromMessages([], 'openai-chat', limits),
      ]
      for (const call of calls) await refused(call, 'InvalidArgumentError', { argument: `options.${option}` })
    }
  }
})
