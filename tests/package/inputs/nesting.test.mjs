// Deeply nested values: accepted up to a limit, refused with a typed error beyond it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { example, unchanged } from '../support/unchanged.mjs'
import { nested, nestedText, text } from '../support/values.mjs'

const { Context, Message, Session } = await load('peteos-session')

test('values nested 900 levels deep are loaded, appended, read and saved', async () => {
  for (const place of ['message', 'metadata', 'part', 'context', 'session']) {
    const deep = nestedText(890)
    const inMessage = {
      message: `"deep": ${deep}`,
      metadata: `"metadata": {"deep": ${deep}}`,
      part: `"content": [{"type": "x", "deep": ${deep}}]`,
    }[place]
    const storage = new RecordingStorage({
      'a/s/session.json': `{"active_context_id": "c"${place === 'session' ? `, "deep": ${deep}` : ''}}`,
      'a/s/c.json': `{"id": "c"${place === 'context' ? `, "deep": ${deep}` : ''}, "messages": [{"id": "m", "role": "user"${inMessage ? `, ${inMessage}` : ''}}]}`,
    })
    const session = await Session.load('a', 's', { storage })
    const context = session.activeContext
    if (inMessage) context.append({ ...JSON.parse(`{"role": "user", ${inMessage}}`), id: 'n' })
    context.append(text('x'))
    assert.ok(context.totalTokenCount() > 0)
    context.updateMessage('m', { mood: 1 })
    context.rawDict = { ...context.rawDict, other: 1 }
    session.rawDict = { ...session.rawDict, other: 1 }
    session.rollingSequenceWindow(2)
    JSON.stringify([session, context])
    await session.save()
    const again = await Session.load('a', 's', { storage })
    assert.equal(JSON.stringify(again), JSON.stringify(session))
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(session.activeContext))
    assert.equal(JSON.stringify(await again.loadContext('c')), JSON.stringify(context))
  }
})

/** The greatest depth of a value in a message is `DEEPEST - level`, where `level` is the depth of the value in its file. */
const DEEPEST = 998

test('the deepest message that append accepts loads again, and a deeper one is refused', async () => {
  const places = [
    { level: 1, wrap: (deep) => ({ deep }) },
    { level: 2, wrap: (deep) => ({ metadata: { deep } }) },
    { level: 3, wrap: (deep) => ({ content: [{ type: 'x', deep }] }) },
  ]
  for (const { level, wrap } of places) {
    const { session, context, storage } = example()
    const append = (depth) => context.append({ role: 'user', ...wrap(nested(depth)) })
    for (let depth = 985; depth <= DEEPEST - level; depth++) append(depth)
    const { messageCount } = context
    for (let depth = DEEPEST - level + 1; depth <= 1002; depth++) {
      refusedNow(() => append(depth), 'InvalidMessageError', { message: /deep/ }, `level ${level}, depth ${depth}`)
    }
    assert.equal(context.messageCount, messageCount)
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(context), `level ${level}`)
  }
})

test('the deepest dict that rawDict accepts can be read, saved, loaded and set again, and a deeper one is refused', async () => {
  for (let depth = 985; depth <= 1002; depth++) {
    const { session, context, storage } = example()
    const deep = nested(depth)
    const setContext = () => (context.rawDict = { ...context.rawDict, deep })
    const setSession = () => (session.rawDict = { ...session.rawDict, deep })
    if (depth > 999) {
      refusedNow(setContext, 'InvalidArgumentError', { argument: /^rawDict/, message: /deep/ }, `depth ${depth}`)
      refusedNow(setSession, 'InvalidArgumentError', { argument: /^rawDict/, message: /deep/ }, `depth ${depth}`)
      continue
    }
    setContext()
    setSession()
    context.rawDict = { ...context.rawDict }
    session.rawDict = { ...session.rawDict }
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    assert.equal(JSON.stringify(again), JSON.stringify(session), `depth ${depth}`)
    assert.equal(JSON.stringify(again.activeContext), JSON.stringify(context), `depth ${depth}`)
  }
})

for (const depth of [5_000, 100_000, 1_000_000]) {
  test(`values nested ${depth} levels deep are refused with a typed error, in files and in objects`, async () => {
    const objects = (count) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`
    for (const deep of [nestedText(depth), objects(depth), '['.repeat(depth), '{"a":'.repeat(depth)]) {
      const one = new RecordingStorage({ 'a/s/session.json': `{"deep": ${deep}}` })
      const error = await refused(() => Session.load('a', 's', { storage: one }), 'CorruptSessionError', {
        path: 'a/s/session.json',
        line: 1,
        field: null,
        message: /deep/,
      })
      assert.ok(error.column > 1000)
      const two = new RecordingStorage({
        'a/s/session.json': '{"active_context_id": "c"}',
        'a/s/c.json': `{"messages": [{"deep": ${deep}}]}`,
      })
      await refused(() => Session.load('a', 's', { storage: two }), 'CorruptSessionError', {
        path: 'a/s/c.json',
        message: /deep/,
      })
      const errors = []
      assert.deepEqual(await Session.list('a', { storage: one, onError: (error) => errors.push(error) }), [])
      assert.equal(errors[0].name, 'CorruptSessionError')
    }
    const all = example()
    const { session, context } = all
    const deep = nested(depth)
    await unchanged(all, () => {
      refusedNow(() => context.append({ role: 'user', deep }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => context.append({ role: 'user', content: [{ type: 'x', deep }] }), 'InvalidMessageError', {
        message: /deep/,
      })
      refusedNow(() => context.append(deep), 'InvalidMessageError')
      refusedNow(() => context.updateMessage(context.messages[1].id, { deep }), 'InvalidMessageError', {
        message: /deep/,
      })
      refusedNow(() => (context.rawDict = { ...context.rawDict, deep }), 'InvalidArgumentError', {
        argument: /^rawDict/,
        message: /deep/,
      })
      refusedNow(() => (session.rawDict = { ...session.rawDict, deep }), 'InvalidArgumentError', {
        argument: /^rawDict/,
        message: /deep/,
      })
      refusedNow(() => Context.fromDict({ deep }), 'InvalidArgumentError', { argument: /^dict/, message: /deep/ })
      refusedNow(() => Message.create('user', [], { deep }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => context.fork({ systemPromptMessage: { deep } }), 'InvalidMessageError', { message: /deep/ })
      refusedNow(() => Context.create({ toolDefinitionsMessage: { deep } }), 'InvalidMessageError', { message: /deep/ })
    })
  })
}
