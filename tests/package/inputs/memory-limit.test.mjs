// Memory has a limit: what would exceed it throws a MemoryLimitError and changes nothing, and everything else goes on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runModule } from '../support/files.mjs'

const support = (name) => JSON.stringify(new URL(`../support/${name}`, import.meta.url).href)
const SEEDS = Number(process.env.PETEOS_RUNS ?? 3)

/** Runs code in a process of its own that has all exports of the package in `api`, and a session file maker. */
const runInOwnProcess = (source, options) =>
  runModule(
    `
    import assert from 'node:assert/strict'
    import * as api from 'peteos-session'
    import { sessionFile } from ${support('session-file.mjs')}
    const { Context, init, MemoryLimitError, MemoryStorage, memoryUsage, Session } = api
    const MB = 2 ** 20
    const storage = new MemoryStorage()
    const text = (length) => ({ role: 'user', content: [{ type: 'text', text: 'x'.repeat(length) }] })
    ${source}
    `,
    { timeoutSeconds: 300, ...options },
  )

test('the limit can be set and read at any time', () =>
  runInOwnProcess(`
    assert.equal(memoryUsage().limit, 3 * 2 ** 30)
    await init({ maxMemory: 64 * MB })
    const { used, reserved, limit } = memoryUsage()
    assert.equal(limit, 64 * MB)
    assert.ok(used > 0 && used <= reserved && reserved < limit)
    await init()
    assert.equal(memoryUsage().limit, 64 * MB)
    for (const maxMemory of [0, -1, 1.5, NaN, Infinity, 2 ** 32 + 1, '64', null, {}, 1n]) {
      await assert.rejects(init({ maxMemory }), { code: 'ERR_INVALID_ARGUMENT', argument: 'options.maxMemory' })
    }
    await assert.rejects(init({ maxMemry: 1 }), { argument: 'options.maxMemry' })
    assert.equal(memoryUsage().limit, 64 * MB)
  `))

test('what does not fit names the bytes and what to do, and changes nothing', () =>
  runInOwnProcess(`
    await init({ maxMemory: 24 * MB })
    const session = Session.create('a', { storage })
    const context = session.activeContext
    context.append(text(MB))
    await session.save()
    const before = JSON.stringify(context.rawDict)
    const files = JSON.stringify(await storage.list(session.sessionDir))
    await init({ maxMemory: memoryUsage().used + 2 * MB })
    assert.throws(() => context.append(text(8 * MB)), (error) => {
      const { used, limit } = memoryUsage()
      assert.ok(error instanceof MemoryLimitError && error instanceof api.SessionError)
      assert.equal(error.code, 'ERR_MEMORY_LIMIT')
      assert.equal(error.limit, limit)
      assert.ok(error.needed > 8 * MB && Math.abs(error.used - used) < MB / 4, JSON.stringify(error))
      assert.match(error.message, /needs \\d+ more bytes.*in use; release .* or raise the limit with init/)
      return true
    })
    assert.equal(JSON.stringify(context.rawDict), before)
    assert.equal(session.state.get('a'), null)
    const calls = {
      append: () => context.append(text(8 * MB)),
      update: () => context.updateMessage(context.messages[0].id, text(8 * MB)),
      state: () => session.state.create('a', 'x'.repeat(8 * MB)),
      dict: () => Context.fromDict({ messages: [text(8 * MB)] }),
      special: () => Context.create({ systemPromptMessage: { content: text(8 * MB).content } }),
      message: () => api.Message.create('user', text(8 * MB).content),
      count: () => api.countTokens('x'.repeat(8 * MB)),
      decode: () => api.decode(new Uint32Array(4 * MB)),
      name: () => api.encodingForModel('x'.repeat(8 * MB)),
      conversation: () => api.fromMessages([{ role: 'user', content: 'x'.repeat(8 * MB) }], 'openai-chat'),
    }
    for (const [name, call] of Object.entries(calls)) assert.throws(call, MemoryLimitError, name)
    assert.equal(JSON.stringify(context.rawDict), before)
    assert.equal(JSON.stringify(await storage.list(session.sessionDir)), files)
    await init({ maxMemory: 256 * MB })
    for (const [name, call] of Object.entries(calls)) {
      try { call() } catch (error) { assert.ok(!(error instanceof MemoryLimitError), name) }
    }
    await session.save()
    assert.ok((await Session.load('a', session.uuid, { storage })).activeContext.messageCount > 1)
  `))

test('a save that does not fit writes nothing, and the next one writes all', () =>
  runInOwnProcess(`
    const session = Session.create('a', { storage })
    let deep = 1
    // Each of the numbers takes two bytes here, and hundreds as a line of the file.
    for (let level = 0; level < 900; level++) deep = [deep]
    const numbers = Array.from({ length: 3000 }, () => 1)
    session.activeContext.append({ role: 'user', metadata: { deep: JSON.parse('['.repeat(900) + numbers + ']'.repeat(900)) } })
    await init({ maxMemory: memoryUsage().used + MB })
    await assert.rejects(session.save(), MemoryLimitError)
    assert.throws(() => session.saveSync(), MemoryLimitError)
    assert.deepEqual(await storage.list(session.sessionDir), [])
    await init({ maxMemory: 64 * MB })
    await session.save()
    assert.equal((await storage.list(session.sessionDir)).length, 2)
  `))

test('hostile files that are loaded at once fail one by one, and the others load', () =>
  runInOwnProcess(`
    await init({ maxMemory: 160 * MB })
    const shapes = ['[],', '{"a":1},', '1,', '{},'].map((item) => item.repeat(5 * MB / item.length))
    const hostile = await Promise.all(shapes.map((items) => sessionFile(storage, '"messages":[],"x":[' + items + '0]')))
    const small = await sessionFile(storage, '"messages":[' + JSON.stringify(text(1000)) + ']')
    const loads = await Promise.allSettled([...hostile, small].map((uuid) => Session.load('a', uuid, { storage })))
    assert.equal(loads.at(-1).status, 'fulfilled')
    assert.ok(loads.some(({ status }) => status === 'rejected'))
    for (const { reason } of loads.filter(({ status }) => status === 'rejected')) {
      assert.ok(reason instanceof MemoryLimitError, String(reason))
    }
    loads.at(-1).value.activeContext.append(text(1000))
    await loads.at(-1).value.save()
  `))

test('a session that does not fit beside those that are held loads once some are freed', () =>
  runInOwnProcess(`
    await init({ maxMemory: 64 * MB })
    const uuid = await sessionFile(storage, '"messages":[' + JSON.stringify(text(5 * MB)) + ']')
    const held = []
    const error = await (async () => {
      for (;;) held.push(await Session.load('a', uuid, { storage }))
    })().catch((error) => error)
    assert.ok(error instanceof MemoryLimitError, String(error))
    assert.ok(held.length > 5, String(held.length))
    assert.equal(held.at(-1).activeContext.append(text(10)).role, 'user')
    held.splice(0, 3).forEach((session) => session.free())
    held.push(await Session.load('a', uuid, { storage }))
    held.length = 0
    for (let count = 0; count < 10; count++) held.push(await Session.load('a', uuid, { storage }))
    `))

test('sessions that nobody holds are given back', () =>
  runInOwnProcess(`
    await init({ maxMemory: 128 * MB })
    const uuid = await sessionFile(storage, '"messages":[' + JSON.stringify(text(10 * MB)) + ']')
    // The storage answers at once, so that no turn of the event loop passes between two loads.
    for (let count = 0; count < 100; count++) await Session.load('a', uuid, { storage })
    assert.ok(memoryUsage().used < 128 * MB)
  `))

test('a list makes room as a load does, and lists each session and each error once', () =>
  runInOwnProcess(`
    await init({ maxMemory: 128 * MB })
    const large = Session.create('a', { storage })
    large.state.create('x', 'x'.repeat(16 * MB))
    await large.save()
    const { uuid } = large
    large.free()
    await storage.write('a/damaged/session.json', new TextEncoder().encode('{'))
    let refusals = 0
    for (let count = 0; refusals === 0 && count < 100; count++) {
      try {
        Session.create('b', { storage }).append(text(5 * MB))
      } catch (error) {
        if (!(error instanceof MemoryLimitError)) throw error
        refusals++
      }
    }
    assert.equal(refusals, 1)
    const errors = []
    const listed = await Session.list('a', { storage, onError: (error) => errors.push(error) })
    assert.deepEqual(listed.map((summary) => summary.uuid), [uuid])
    assert.deepEqual(errors.map(({ name }) => name), ['CorruptSessionError'])
  `))

test('a check of many sessions takes the memory of one', () =>
  runInOwnProcess(`
    await init({ maxMemory: 64 * MB })
    const messages = '"messages":[' + JSON.stringify(text(4 * MB)) + ']'
    for (let count = 0; count < 30; count++) await sessionFile(storage, messages)
    const { used } = memoryUsage()
    const { checked, sessions } = await Session.checkAll('a', { storage })
    assert.equal(checked, 30)
    assert.ok(memoryUsage().used < used + MB)
    assert.ok(JSON.stringify(sessions).length < MB)
  `))

test('the memory of the engine may end before the limit', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const output = await runModule(
      `
      import { underPressure } from ${support('under-pressure.mjs')}
      await underPressure({ seed: ${seed}, operations: 700 })
      `,
      { timeoutSeconds: 300 },
    )
    assert.match(output, /^\d+ done, \d+ refused$/m)
  }
})
