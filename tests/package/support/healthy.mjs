// A healthy session for tests to damage.
import assert from 'node:assert/strict'
import { load } from './installed.mjs'
import { RecordingStorage } from './storages.mjs'
import { fileText } from './text.mjs'
import { text } from './values.mjs'

const { ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

/** A session with a window, tool calls, an anchor and state; `first` and `active` are the ids of its two contexts. */
export async function healthy(Storage = RecordingStorage) {
  const storage = new Storage()
  const session = Session.create('a', {
    storage,
    systemPromptMessage: SystemPromptMessage.create('Be careful 😀'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'f', description: 'd', parameters: {} }]),
  })
  const context = session.activeContext
  context.append(text('one'))
  context.addAnchor('here', 3)
  context.append(text('two'))
  context.append(Message.create('assistant', [ContentPart.toolUse('call-1', 'f', { a: 1 })]))
  context.append(Message.create('tool_result', [ContentPart.toolResult('call-1', 'ok')]))
  context.append(text('three'))
  session.state.create('name', 'value')
  session.autoApproveTools = ['f']
  const window = session.rollingSequenceWindow(4)
  await session.save()
  const path = (name) => `${session.sessionDir}/${name}`
  return {
    storage,
    session,
    uuid: session.uuid,
    path,
    sessionPath: path('session.json'),
    first: path(`${context.id}.json`),
    active: path(`${window.id}.json`),
    check: (options) => Session.check('a', session.uuid, { storage, ...options }),
    repair: (options) => Session.repair('a', session.uuid, { storage, ...options }),
    load: (options) => Session.load('a', session.uuid, { storage, ...options }),
    /** Changes the dict of a file and writes it back. */
    change(file, change) {
      const dict = JSON.parse(storage.text(file))
      storage.put(file, fileText(change(dict) ?? dict))
    },
    cut(file, length) {
      storage.put(file, storage.files.get(file).slice(0, length))
    },
    replace(file, from, to) {
      const whole = storage.text(file)
      assert.ok(whole.includes(from), from)
      storage.put(file, whole.replace(from, to))
    },
  }
}

export const bytes = (storage) =>
  new Map([...storage.files].map(([path, data]) => [path, Buffer.from(data).toString('latin1')]))

export const problems = ({ findings }) => findings.filter(({ severity }) => severity !== 'info')
