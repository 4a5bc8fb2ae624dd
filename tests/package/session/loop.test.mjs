// What an agent's loop uses of a session: append to the active context, isActive, and the transcript of everything said.
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll } from '../support/property.mjs'

const { Context, MemoryStorage, Message, Session, SystemPromptMessage } = await load('peteos-session')

const say = (session, text) => session.append(Message.create('user', text))
const texts = (messages) => messages.map(({ content }) => content[0].text)
const newSession = (options = {}) => Session.create('agents', { storage: new MemoryStorage(), ...options })

test('append writes to the active context, and a window does not change that', () => {
  const session = newSession()
  const before = session.activeContext
  const stored = say(session, 'one')
  assert.equal(stored, before.messages[0])
  say(session, 'two')
  const window = session.rollingSequenceWindow(1)
  assert.equal(say(session, 'three'), window.messages[1])
  assert.deepEqual([before.messageCount, window.messageCount], [2, 2])
  window.addAnchor('notes', 0)
  assert.equal(session.append(Message.create('user', 'note'), 'notes'), window.messages[0])
})

test('append without an active context, or of a wrong message, throws and changes nothing', () => {
  const session = newSession()
  refusedNow(() => session.append({ role: 'robot' }), 'InvalidMessageError', { field: 'role' })
  refusedNow(() => session.append(Message.create('user', 'x'), 'nowhere'), 'InvalidArgumentError', {
    argument: 'anchorPoint',
  })
  assert.equal(session.activeContext.messageCount, 0)
  session.rawDict = { ...session.rawDict, active_context_id: null }
  const { code } = refusedNow(() => say(session, 'x'), 'NoActiveContextError', { message: /setActiveContext/ })
  assert.equal(code, 'ERR_NO_ACTIVE_CONTEXT')
})

test('isActive tells which context of a session is the active one', async () => {
  const session = newSession()
  const first = session.activeContext
  assert.equal(first.isActive, true)
  for (const text of ['one', 'two']) say(session, text)
  const window = session.rollingSequenceWindow(1)
  assert.deepEqual([first.isActive, window.isActive], [false, true])
  const alone = Context.create()
  assert.deepEqual([alone.isActive, first.rollingSequenceWindow(1).isActive], [false, false])
  session.setActiveContext(alone)
  assert.deepEqual([window.isActive, alone.isActive], [false, true])
  await session.save()
  const loaded = await session.loadContext(first.id)
  assert.equal(loaded.isActive, false)
  session.free()
  assert.equal(alone.isActive, false)
  alone.free()
  refusedNow(() => alone.isActive, 'DisposedError')
})

test('the transcript holds every message once, oldest first, as it was before windows', async () => {
  const session = newSession({ systemPromptMessage: SystemPromptMessage.create('Be kind.') })
  for (const text of ['1', '2', '3']) say(session, text)
  session.rollingSequenceWindow(1)
  say(session, '4')
  session.rollingSequenceWindow(1)
  const edited = say(session, '5')
  session.activeContext.updateMessage(edited.id, { content: [{ type: 'text', text: '5 edited' }] })
  const all = ['Be kind.', '1', '2', '3', '4', '5 edited']
  assert.deepEqual(texts(await session.transcript()), all)
  await session.save()
  const again = await Session.load('agents', session.uuid, { storage: session.storage })
  assert.deepEqual(texts(await again.transcript()), all)
})

test('a message that was edited after a fork is in the transcript as it was first', async () => {
  const session = newSession()
  const { id } = say(session, 'the whole result')
  session.setActiveContext(session.activeContext.fork())
  session.activeContext.updateMessage(id, { content: [{ type: 'text', text: 'cleared' }] })
  assert.deepEqual(texts(await session.transcript()), ['the whole result'])
})

test('the transcript ends at a context that was removed, and refuses one that is damaged', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  const origins = []
  for (const text of ['1', '2', '3']) {
    say(session, text)
    await session.save()
    origins.push(session.activeContextId)
    session.setActiveContext(session.activeContext.fork({ start: -1 }))
  }
  say(session, '4')
  await session.save()
  const transcript = async () => texts(await (await Session.load(directory, session.uuid)).transcript())
  assert.deepEqual(await transcript(), ['1', '2', '3', '4'])
  const fileOf = (id) => join(directory, session.uuid, `${id}.json`)
  rmSync(fileOf(origins[0]))
  // The next context keeps the last message of the one that is gone.
  assert.deepEqual(await transcript(), ['1', '2', '3', '4'])
  rmSync(fileOf(origins[1]))
  assert.deepEqual(await transcript(), ['2', '3', '4'])
  writeFileSync(fileOf(origins[2]), '{')
  await refused(transcript, 'CorruptSessionError', { path: fileOf(origins[2]) })
})

test('a chain of origins that is a circle, or that names no file, has an end', async () => {
  const session = newSession()
  for (const origin of [session.activeContextId, '../elsewhere', 'gone']) {
    const dict = { ...Context.create().rawDict, origin_context_id: origin }
    session.setActiveContext(Context.fromDict(dict))
    say(session, origin)
    assert.deepEqual(texts(await session.transcript()), [origin])
  }
})

test('there is no transcript without an active context, nor of a freed session', async () => {
  const session = newSession()
  session.rawDict = { ...session.rawDict, active_context_id: null }
  assert.deepEqual(await session.transcript(), [])
  session.free()
  await refused(() => session.transcript(), 'DisposedError')
})

test('windows, forks and saves in any order leave the transcript of what was appended', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('append') }),
    fc.record({ do: fc.constant('window'), count: fc.nat(4) }),
    fc.record({ do: fc.constant('fork') }),
    fc.record({ do: fc.constant('reload') }),
  )
  await forAll(150, fc.array(step, { maxLength: 20 }), async (steps) => {
    let session = newSession()
    const { storage, uuid } = session
    const appended = []
    for (const { do: action, count } of steps) {
      if (action === 'append') appended.push(say(session, `${appended.length}`).id)
      if (action === 'window') session.rollingSequenceWindow(count)
      if (action === 'fork') session.setActiveContext(session.activeContext.fork())
      if (action === 'reload') {
        await session.save()
        session = await Session.load('agents', uuid, { storage })
      }
    }
    const transcript = await session.transcript()
    const ids = transcript.map(({ id }) => id)
    assert.deepEqual(ids, appended)
  })
})
