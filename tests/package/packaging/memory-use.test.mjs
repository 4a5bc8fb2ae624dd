// Nothing leaks without free: dropped objects are collected.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runModule } from '../support/files.mjs'

const MEGABYTES = 1_000_000

/** Does \`work\` in rounds in a process of its own; resolves to the memory in use after each, in megabytes. */
async function memoryOver(work, rounds) {
  const output = await runModule(
    `
    import assert from 'node:assert/strict'
    import { Context, MemoryStorage, Session } from 'peteos-session'
    const storage = { read: async () => null, write: async () => {}, list: async () => [], remove: async () => {} }
    const text = 'x'.repeat(100_000)
    const message = () => ({ role: 'user', content: [{ type: 'text', text }] })
    const settle = async () => {
      for (let round = 0; round < 5; round++) {
        gc()
        // Finalizers run in tasks of their own.
        await new Promise((resolve) => setTimeout(resolve, 0))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const used = []
    const kept = {}
    for (let round = 0; round < ${rounds}; round++) {
      await (async () => { ${work} })()
      await settle()
      used.push(Math.round(process.memoryUsage().rss / ${MEGABYTES}))
    }
    console.log(JSON.stringify(used))
  `,
    { args: ['--expose-gc'], timeoutSeconds: 120 },
  )
  return JSON.parse(output)
}

// Each round handles some 20 MB of messages.
const WORKS = {
  'sessions that are made and dropped': `
    for (let count = 0; count < 50; count++) {
      const session = Session.create('a', { storage })
      for (let number = 0; number < 4; number++) session.activeContext.append(message())
    }`,
  'contexts that are made, read, forked and dropped': `
    for (let count = 0; count < 40; count++) {
      const context = Context.create()
      context.append(message()); context.append(message())
      void [context.messages, context.rawDict]
      context.fork().append(message())
      context.rollingSequenceWindow(1)
    }`,
  'sessions that are saved and dropped': `
    for (let count = 0; count < 50; count++) {
      const session = Session.create('a', { storage })
      for (let number = 0; number < 4; number++) session.activeContext.append(message())
      await session.save()
    }`,
  'sessions that are loaded and dropped': `
    if (!kept.session) {
      kept.storage = new MemoryStorage()
      kept.session = Session.create('a', { storage: kept.storage })
      for (let number = 0; number < 4; number++) kept.session.activeContext.append(message())
      await kept.session.save()
    }
    for (let count = 0; count < 50; count++) {
      const session = await Session.load('a', kept.session.uuid, { storage: kept.storage })
      void session.activeContext.messages
    }`,
  'windows of one session, saved': `
    kept.session ??= Session.create('a', { storage })
    for (let count = 0; count < 50; count++) {
      for (let number = 0; number < 4; number++) kept.session.activeContext.append(message())
      kept.session.rollingSequenceWindow(2)
      await kept.session.save()
    }`,
  'a message that is changed again and again, and read': `
    kept.context ??= Context.create()
    kept.id ??= kept.context.append(message()).id
    for (let count = 0; count < 200; count++) kept.context.updateMessage(kept.id, { content: message().content, n: count })
    void kept.context.messages`,
  'a message that is changed again and again, and not read': `
    kept.context ??= Context.create()
    kept.id ??= kept.context.append(message()).id
    for (let count = 0; count < 200; count++) kept.context.updateMessage(kept.id, { content: message().content, n: count })`,
  'calls that are refused': `
    kept.context ??= Context.create()
    for (let count = 0; count < 200; count++) {
      assert.throws(() => kept.context.append({ ...message(), role: 'robot' }), { name: 'InvalidMessageError' })
      assert.throws(() => Context.fromDict({ messages: [message(), 5] }), { name: 'InvalidArgumentError' })
      assert.throws(() => kept.context.append(message(), 'nowhere'), { name: 'InvalidArgumentError' })
    }`,
}

for (const [name, work] of Object.entries(WORKS)) {
  test(`${name} do not leak`, async () => {
    const used = await memoryOver(work, 7)
    // The first rounds take memory that is reused later. A leak would add 20 MB or more in each further round.
    const growth = used.at(-1) - used[2]
    assert.ok(growth < 40, `grew by ${growth} MB: ${used.join(', ')}`)
  })
}
