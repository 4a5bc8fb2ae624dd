// Keys with a meaning for JavaScript objects are treated as data.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'

const { Context, ContentPart, Message, Session } = await load('peteos-session')

test('a __proto__ key is data in files, append and rawDict, and pollutes nothing', async () => {
  const evil =
    '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}, "hasOwnProperty": 5, "toJSON": 7, "toString": null}'
  const message = `{"id": "m", "role": "user", "__proto__": ${evil}, "metadata": ${evil}, "content": [{"type": "x", "__proto__": ${evil}}]}`
  const storage = new RecordingStorage({
    'a/s/session.json': `{"active_context_id": "c", "__proto__": ${evil}, "state_data": {"__proto__": "own"}}`,
    'a/s/c.json': `{"id": "c", "messages": [${message}], "__proto__": ${evil}, "content_map": {"__proto__": "text"}}`,
  })
  const session = await Session.load('a', 's', { storage })
  const context = session.activeContext
  const check = (object) => {
    assert.ok(Object.hasOwn(object, '__proto__'))
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
    assert.equal(object.polluted, undefined)
  }
  const checkAll = (stored) => [stored, stored.metadata, stored.content[0]].forEach(check)
  checkAll(context.messages[0])
  checkAll(context.append({ ...JSON.parse(message), id: 'n' }))
  ;[context.rawDict, session.rawDict, context.contentMap, session.rawDict.state_data].forEach(check)
  context.rawDict = context.rawDict
  session.rawDict = session.rawDict
  context.updateMessage('n', JSON.parse(`{"__proto__": ${evil}}`))
  ;[context.rawDict, session.rawDict, context.messages[1]].forEach(check)
  const child = session.rollingSequenceWindow(1)
  checkAll(child.messages[0])
  await session.save()
  const again = await Session.load('a', 's', { storage })
  ;[again.rawDict, (await again.loadContext('c')).rawDict].forEach(check)
  checkAll(again.activeContext.messages[0])
  checkAll((await again.loadContext('c')).messages[0])
  checkAll(Context.fromDict(context.rawDict).messages[0])
  check(Message.create('user', [], JSON.parse(evil)).metadata)
  check(JSON.parse(ContentPart.toolUse('c', 'f', JSON.parse(evil)).arguments))
  assert.equal({}.polluted, undefined)
  assert.equal(Object.prototype.polluted, undefined)
  assert.equal([].polluted, undefined)
})

test('a setter on Object.prototype is not run', () => {
  const context = Context.create()
  Object.defineProperty(Object.prototype, 'role', {
    set() {
      throw new Error('run')
    },
    get() {
      return undefined
    },
    configurable: true,
  })
  try {
    context.append({ role: 'user', content: [{ type: 'text', text: 'x' }] })
    assert.equal(context.messages[0].role, 'user')
    assert.equal(Message.create('user', []).role, 'user')
  } finally {
    delete Object.prototype.role
  }
})
