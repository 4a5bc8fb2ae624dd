// New sessions: how they are created, what they hold, and where they are stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runModule, tempDir } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { MemoryStorage, Session, SystemPromptMessage } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const ID = /^\d{8}-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const tool = { name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: {} } }

/** A session from creation to a window, with the exports from `import` or `require`. */
async function quickStart(
  { Session, Context, Message, ContentPart, SystemPromptMessage, ToolDefinitionsMessage },
  storage,
) {
  const session = Session.create('agents/helper', {
    systemPromptMessage: SystemPromptMessage.create('You are a careful assistant.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([tool]),
    storage,
  })
  session.activeContext.append(Message.create('user', [ContentPart.text('Hi')]))
  session.activeContext.append({ role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] })
  await session.save()
  const again = await Session.load('agents/helper', session.uuid, { storage })
  assert.deepEqual(again.rawDict, session.rawDict)
  assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict)
  assert.equal(again.rollingSequenceWindow(20), null)
  assert.equal(again.rollingTokenWindow(4000, 'cl100k_base'), null)
  const window = again.rollingSequenceWindow(1)
  assert.ok(window instanceof Context)
  assert.deepEqual(
    window.messages.map(({ role }) => role),
    ['system', 'tool', 'assistant'],
  )
  assert.equal(again.rollingTokenWindow(0).messageCount, 2)
  await again.save()
  const third = await Session.load('agents/helper', session.uuid, { storage })
  assert.equal(third.activeContext.messageCount, 2)
}

test('the quick start runs under import', async () => {
  await quickStart(await load('peteos-session'), new MemoryStorage())
})

test('the quick start runs under require', async () => {
  await quickStart(require('peteos-session'), new (require('peteos-session').MemoryStorage)())
})

test('the quick start runs on the file system, by default in Node', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(`${directory}/agents`)
  assert.ok(session.storage instanceof NodeFileStorage)
  session.activeContext.append(text('Hi'))
  await session.save()
  assert.equal(
    (await Session.load(`${directory}/agents`, session.uuid)).activeContext.messages[0].content[0].text,
    'Hi',
  )
})

test('import and require share classes and one instance of the module', async () => {
  const [imported, required] = [await load('peteos-session'), require('peteos-session')]
  for (const name of Object.keys(required)) assert.equal(imported[name], required[name], name)
  assert.deepEqual(
    Object.keys(imported)
      .filter((name) => !['default', 'module.exports'].includes(name))
      .sort(),
    Object.keys(required)
      .filter((name) => name !== '__esModule')
      .sort(),
  )
  const session = required.Session.create('a', { storage: new imported.MemoryStorage() })
  assert.ok(session instanceof imported.Session && session.activeContext instanceof imported.Context)
  // Each side accepts a context that the other created.
  const context = imported.Context.create()
  session.setActiveContext(context)
  assert.equal(session.activeContext, context)
  assert.throws(() => session.rollingSequenceWindow(-1), imported.InvalidArgumentError)
})

test('create touches no storage', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('agents/helper', { systemPromptMessage: SystemPromptMessage.create('x'), storage })
  session.activeContext.append(text('Hi'))
  session.rollingSequenceWindow(0)
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.deepEqual(storage.calls, [])
  assert.equal(session.storage, storage)
})

test('a new session has the fields of docs/format.md', () => {
  const session = Session.create('agents/helper', { storage: new MemoryStorage() })
  assert.match(session.uuid, ID)
  assert.match(session.activeContext.id, ID)
  assert.notEqual(session.uuid, session.activeContext.id)
  assert.equal(session.sessionDir, `agents/helper/${session.uuid}`)
  assert.equal(session.activeContextId, session.activeContext.id)
  assert.deepEqual(session.autoApproveTools, [])
  assert.equal(session.isActive, false)
  assert.deepEqual(session.state.list(), [])
  assert.deepEqual(Object.entries(session.rawDict), [
    ['uuid', session.uuid],
    ['active_context_id', session.activeContext.id],
    ['auto_approve_tools', []],
    ['state_data', {}],
    ['is_active', false],
  ])
})

test('the session directory is the parent directory and the uuid', () => {
  const dir = (parent) => {
    const { sessionDir, uuid } = Session.create(parent, { storage: new MemoryStorage() })
    return sessionDir.replace(uuid, 'UUID')
  }
  assert.equal(dir('a/b'), 'a/b/UUID')
  assert.equal(dir('a/b/'), 'a/b/UUID')
  assert.equal(dir('/'), '/UUID')
  assert.equal(dir('/var/agents'), '/var/agents/UUID')
  assert.equal(dir('.'), './UUID')
  assert.equal(dir('été/日本'), 'été/日本/UUID')
})

for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12', 'Asia/Kathmandu']) {
  test(`ids begin with the local date, and messages carry the local time: ${zone}`, async () => {
    // The dates of the first two always differ.
    const output = await runModule(
      `
      import { Session, MemoryStorage, Message } from 'peteos-session'
      const date = () => new Intl.DateTimeFormat('en-CA', { timeZone: '${zone}', dateStyle: 'short' }).format(new Date())
      const before = date()
      const session = Session.create('a', { storage: new MemoryStorage() })
      const { creation_timestamp } = Message.create('user', [])
      const stored = session.activeContext.append({ role: 'user' })
      console.log(JSON.stringify({ days: [before, date()], ids: [session.uuid, session.activeContext.id],
        times: [creation_timestamp, stored.creation_timestamp] }))
    `,
      { env: { TZ: zone } },
    )
    const { days, ids, times } = JSON.parse(output)
    for (const id of ids) {
      assert.match(id, ID)
      assert.ok(
        days.some((day) => id.startsWith(`${day.replaceAll('-', '')}-`)),
        `${id} on ${days}`,
      )
    }
    for (const time of times) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
      assert.ok(
        days.some((day) => time.startsWith(`${day}T`)),
        `${time} on ${days}`,
      )
    }
  })
}

test('the time of a message is the current time', () => {
  const session = Session.create('a', { storage: new MemoryStorage() })
  const before = Date.now()
  const { creation_timestamp } = session.activeContext.append(text('Hi'))
  const after = Date.now()
  // Without a zone it is read as local time.
  const time = new Date(creation_timestamp).getTime()
  assert.ok(time >= before && time <= after, `${before} ${time} ${after}`)
})
