// free, Symbol.dispose, and use after them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { GatedStorage, RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session } = await load('peteos-session')

const ENDS = { 'free()': (object) => object.free() }
if (typeof Symbol.dispose === 'symbol') ENDS['Symbol.dispose'] = (object) => object[Symbol.dispose]()

test('Symbol.dispose exists if the engine supports it', () => {
  assert.equal(typeof Symbol.dispose, 'symbol', 'Node 20 has it')
  for (const { prototype } of [Context, Session]) {
    assert.equal(typeof prototype[Symbol.dispose], 'function')
    assert.equal(Object.getOwnPropertyDescriptor(prototype, Symbol.dispose).enumerable, false)
  }
})

for (const [name, end] of Object.entries(ENDS)) {
  test(`a context after ${name} is refused with DisposedError, and may be freed twice`, () => {
    const context = Context.create()
    context.append(text('x'))
    void context.messages
    end(context)
    end(context)
    const uses = [
      () => context.id,
      () => context.messages,
      () => context.messageCount,
      () => context.contentMap,
      () => context.anchorPoints,
      () => context.systemPromptMessage,
      () => context.toolDefinitionsMessage,
      () => context.children,
      () => context.originContextId,
      () => context.rawDict,
      () => {
        context.rawDict = {}
      },
      () => context.append(text('x')),
      () => context.updateMessage('m', {}),
      () => context.addAnchor('n', 0),
      () => context.fork(),
      () => context.stripThinking(),
      () => context.rollingSequenceWindow(1),
      () => context.rollingTokenWindow(1),
      () => context.planSequenceWindow(1),
      () => context.planTokenWindow(1),
      () => context.totalTokenCount(),
      () => context.tokenCounts(),
      () => JSON.stringify(context),
      () => Context.create({ parentContext: context }),
      () => Session.create('a', { storage: new RecordingStorage() }).setActiveContext(context),
    ]
    for (const use of uses) refusedNow(use, 'DisposedError', { code: 'ERR_DISPOSED', message: /context/ }, String(use))
  })

  test(`a session after ${name} is refused with DisposedError, and may be freed twice`, async () => {
    const session = Session.create('a', { storage: new RecordingStorage() })
    const { state, activeContext } = session
    end(session)
    end(session)
    const uses = [
      () => session.uuid,
      () => session.sessionDir,
      () => session.activeContext,
      () => session.activeContextId,
      () => session.autoApproveTools,
      () => {
        session.autoApproveTools = []
      },
      () => session.isActive,
      () => {
        session.isActive = true
      },
      () => session.rawDict,
      () => {
        session.rawDict = {}
      },
      () => session.setActiveContext(activeContext),
      () => session.rollingSequenceWindow(1),
      () => session.rollingTokenWindow(1),
      () => JSON.stringify(session),
      () => state.get('x'),
      () => state.create('x', 'y'),
      () => state.list(),
      () => session.state.get('x'),
    ]
    for (const use of uses) refusedNow(use, 'DisposedError', { code: 'ERR_DISPOSED', message: /session/ }, String(use))
    for (const use of [() => session.save(), () => session.loadContext('c'), () => session.listContexts()]) {
      await refused(use, 'DisposedError', { message: /session/ }, String(use))
    }
    activeContext.append(text('a context outlives its session'))
    assert.equal(activeContext.messageCount, 1)
  })
}

test('a context that is freed while a session has it stays in the session', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const context = session.activeContext
  const { id } = context
  context.append(text('1'))
  context.free()
  const again = session.activeContext
  assert.notEqual(again, context)
  assert.equal(again.id, id)
  assert.equal(session.activeContext, again)
  assert.deepEqual(
    again.messages.map(({ content }) => content[0].text),
    ['1'],
  )
  again.append(text('2'))
  assert.equal(await session.loadContext(id), again)
  again.free()
  assert.equal((await session.loadContext(id)).messageCount, 2)
  const window = session.rollingSequenceWindow(1)
  window.free()
  assert.equal(session.activeContext.messageCount, 1)
  await session.save()
  const loaded = await Session.load('a', session.uuid, { storage })
  assert.equal(loaded.activeContext.messageCount, 1)
  assert.equal((await loaded.loadContext(id)).messageCount, 2)
})

test('a fork and a window outlive their origin', () => {
  const context = Context.create()
  context.append(text('1'))
  context.append(text('2'))
  const [fork, window] = [context.fork(), context.rollingSequenceWindow(1)]
  context.free()
  assert.deepEqual([fork.messageCount, window.messageCount], [2, 1])
})

test('snapshots outlive their context', () => {
  const context = Context.create()
  const stored = context.append(text('1'))
  const [{ messages }, dict] = [context, context.rawDict]
  context.free()
  assert.equal(stored.content[0].text, '1')
  assert.deepEqual(dict.messages, messages)
})

test('a session that is freed during its save is saved', async () => {
  const storage = new GatedStorage()
  const session = Session.create('a', { storage })
  const { uuid } = session
  session.activeContext.append(text('x'))
  const save = session.save()
  await storage.reached
  session.free()
  storage.open()
  await save
  assert.equal((await Session.load('a', uuid, { storage })).activeContext.messageCount, 1)
})

test('a session that is freed right after save was called is saved', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const { uuid } = session
  const save = session.save()
  session.free()
  await save
  assert.ok(await Session.load('a', uuid, { storage }))
})

test('a session that is freed during loadContext and listContexts still answers', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const first = session.activeContext
  session.setActiveContext(Context.create())
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  const [context, ids] = [again.loadContext(first.id), again.listContexts()]
  again.free()
  assert.equal((await context).id, first.id)
  assert.equal((await ids).length, 2)
})
