// Asserts that a refused call changes nothing.
import assert from 'node:assert/strict'
import { load } from './installed.mjs'
import { RecordingStorage } from './storages.mjs'
import { text } from './values.mjs'

const { Session, SystemPromptMessage } = await load('peteos-session')

/** A session with a system prompt and two messages: `{ storage, session, context }`. */
export function example() {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage, systemPromptMessage: SystemPromptMessage.create('s') })
  session.activeContext.append(text('1'))
  session.activeContext.append(text('2'))
  return { storage, session, context: session.activeContext }
}

/** Runs `work`, and asserts that the session and its active context did not change and still work. */
export async function unchanged({ session, context }, work) {
  const before = [session.rawDict, context.rawDict, context.messages]
  await work()
  assert.deepEqual([session.rawDict, context.rawDict, context.messages], before)
  assert.equal(session.activeContext, context)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage: session.storage })
  assert.deepEqual(again.activeContext.rawDict, context.rawDict)
  assert.equal(again.rollingSequenceWindow(1).messageCount, 2)
}
