// Snapshots of sessions and contexts: frozen, and the same objects until something changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { chance, fc, forAll, list } from '../support/property.mjs'
import { text } from '../support/values.mjs'

const { Context, ContentPart, MemoryStorage, Message, Session, SystemPromptMessage } = await load('peteos-session')

function example() {
  const session = Session.create('a', {
    storage: new MemoryStorage(),
    systemPromptMessage: SystemPromptMessage.create('s'),
  })
  session.activeContext.append(
    Message.create('assistant', [ContentPart.toolUse('c', 'f', { a: 1 })], { deep: { er: [{}] } }),
  )
  session.activeContext.append(text('x'))
  session.autoApproveTools = ['a']
  session.state.create('n', 'v')
  return session
}

function assertDeepFrozen(value, path) {
  if (typeof value !== 'object' || value === null) return
  assert.ok(Object.isFrozen(value), `${path} is frozen`)
  for (const [key, field] of Object.entries(value)) assertDeepFrozen(field, `${path}.${key}`)
}

test('snapshots are deeply frozen plain objects', () => {
  const session = example()
  const context = session.activeContext
  const stored = context.append(text('y', { metadata: { a: { b: [] } } }))
  const snapshots = {
    'session.rawDict': session.rawDict,
    'session.autoApproveTools': session.autoApproveTools,
    'context.rawDict': context.rawDict,
    'context.messages': context.messages,
    'context.contentMap': context.contentMap,
    'context.anchorPoints': context.anchorPoints,
    'context.children': context.children,
    'context.systemPromptMessage': context.systemPromptMessage,
    'the stored message': stored,
    'a report': context.planTokenWindow(1),
  }
  for (const [name, value] of Object.entries(snapshots)) {
    assertDeepFrozen(value, name)
    assert.ok([Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value)), name)
  }
})

test('an edit in place throws and changes nothing', () => {
  const session = example()
  const context = session.activeContext
  const before = JSON.stringify([session, context])
  const edits = [
    () => {
      context.messages.push(text('z'))
    },
    () => {
      context.messages.length = 0
    },
    () => {
      context.messages[0] = text('z')
    },
    () => {
      context.messages[1].role = 'user'
    },
    () => {
      context.messages[1].content[0].approval_status = 'approved'
    },
    () => {
      context.messages[1].metadata.deep.er.push(1)
    },
    () => {
      delete context.messages[1].metadata
    },
    () => {
      context.messages[1].added = 1
    },
    () => {
      context.rawDict.id = 'x'
    },
    () => {
      context.rawDict.messages.pop()
    },
    () => {
      context.anchorPoints[0][1] = 7
    },
    () => {
      context.children.push('x')
    },
    () => {
      context.contentMap.x = 'y'
    },
    () => {
      session.rawDict.is_active = true
    },
    () => {
      session.rawDict.state_data.n = 'w'
    },
    () => {
      session.autoApproveTools.push('b')
    },
    () => {
      Object.setPrototypeOf(context.messages[1], null)
    },
  ]
  for (const edit of edits) assert.throws(edit, TypeError, String(edit))
  assert.equal(JSON.stringify([session, context]), before)
})

test('properties without a setter throw when they are set', () => {
  const session = example()
  for (const name of ['uuid', 'sessionDir', 'activeContext', 'activeContextId', 'state', 'storage']) {
    assert.throws(
      () => {
        session[name] = 'x'
      },
      TypeError,
      name,
    )
  }
  const names = [
    'id',
    'messages',
    'messageCount',
    'contentMap',
    'anchorPoints',
    'children',
    'originContextId',
    'systemPromptMessage',
    'toolDefinitionsMessage',
  ]
  for (const name of names)
    assert.throws(
      () => {
        session.activeContext[name] = 'x'
      },
      TypeError,
      name,
    )
})

test('a snapshot is the same object until something changes', () => {
  const session = example()
  const context = session.activeContext
  const get = () => [
    context.messages,
    context.rawDict,
    context.anchorPoints,
    context.children,
    context.contentMap,
    context.systemPromptMessage,
    session.rawDict,
    session.autoApproveTools,
  ]
  const before = get()
  const unchanged = () => get().forEach((value, index) => assert.equal(value, before[index]))
  unchanged()
  context.planTokenWindow(1)
  context.planSequenceWindow(1)
  context.tokenCounts('o200k_base')
  JSON.stringify([session, context])
  assert.equal(context.rollingSequenceWindow(99), null)
  assert.throws(() => context.append({ role: 'robot' }))
  assert.throws(() => context.addAnchor('messages', 0))
  unchanged()
})

test('a save changes no snapshot', async () => {
  const session = example()
  const before = [session.rawDict, session.activeContext.rawDict, session.activeContext.messages]
  await session.save()
  assert.deepEqual([session.rawDict, session.activeContext.rawDict, session.activeContext.messages], before)
  assert.equal(session.activeContext.messages, before[2])
  assert.equal(session.rawDict, before[0])
})

test('an old snapshot is unchanged, and the new one reuses the old messages', () => {
  const context = example().activeContext
  const [messages, dict] = [context.messages, context.rawDict]
  const copy = structuredClone(dict)
  const stored = context.append(text('new'))
  assert.notEqual(context.messages, messages)
  assert.equal(messages.length, 3)
  assert.deepEqual(dict, copy)
  messages.forEach((message, index) => assert.equal(context.messages[index], message))
  assert.equal(context.messages[3], stored)
  assert.equal(context.rawDict.messages, context.messages)
  const [first] = context.messages
  const changed = context.updateMessage(stored.id, { metadata: { a: 1 } })
  assert.equal(context.messages[0], first)
  assert.equal(context.messages[3], changed)
  assert.equal('metadata' in stored, false)
})

test('a change of other fields keeps the same messages object', () => {
  const context = example().activeContext
  const { messages } = context
  context.addAnchor('notes', 1)
  assert.equal(context.messages, messages)
  context.fork()
  assert.equal(context.messages, messages)
  assert.equal(context.children.length, 1)
  context.rollingSequenceWindow(1)
  assert.equal(context.messages, messages)
  context.rawDict = { ...context.rawDict, custom: 1 }
  assert.equal(context.messages, messages)
  assert.equal(context.rawDict.custom, 1)
})

test('snapshots are up to date in any sequence of reads and changes', async () => {
  const steps = fc.record({
    action: fc.constantFrom('append', 'append', 'append', 'update', 'remove', 'nothing'),
    place: fc.nat(),
    isAtFront: chance(0.3),
    isRead: fc.boolean(),
  })
  await forAll(150, list(1, 30, steps), (steps) => {
    const context = Context.create()
    const expected = []
    let lastSeen = new Map()
    const unchanged = new Set()
    for (const [step, { action, place, isAtFront, isRead }] of steps.entries()) {
      if (action === 'append' || expected.length === 0) {
        const stored = context.append(text(`m${step}`), isAtFront ? 'system_prompt' : 'messages')
        if (isAtFront) expected.splice(context.anchorPoints[0][1] - 1, 0, `m${step}`)
        else expected.push(`m${step}`)
        if (place % 3 === 0) assert.ok(context.messages.includes(stored))
      } else if (action === 'update') {
        const index = place % expected.length
        expected[index] = `changed${step}`
        const { id } = context.messages[index]
        unchanged.delete(id)
        context.updateMessage(id, { content: [{ type: 'text', text: `changed${step}` }] })
      } else if (action === 'remove') {
        const removed = place % expected.length
        expected.splice(removed, 1)
        const messages = context.messages.toSpliced(removed, 1)
        // The positions have moved, so other objects may represent the same messages.
        unchanged.clear()
        const anchors = [
          ['system_prompt', 0],
          ['tools', 0],
          ['messages', messages.length],
        ]
        context.rawDict = { ...context.rawDict, messages, anchor_points: anchors }
      }
      if (!isRead) continue
      assert.deepEqual(
        context.messages.map(({ content }) => content[0].text),
        expected,
      )
      for (const message of context.messages) {
        if (unchanged.has(message.id)) assert.equal(message, lastSeen.get(message.id))
      }
      lastSeen = new Map(context.messages.map((message) => [message.id, message]))
      for (const id of lastSeen.keys()) unchanged.add(id)
    }
  })
})
