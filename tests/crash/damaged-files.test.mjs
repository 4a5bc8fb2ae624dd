// Damaged sessions: every call ends with a result or an error of the library, in time, and a repair keeps what was readable.
import { load } from '../package/support/installed.mjs'
import { message } from './support/sessions.mjs'
import { crashTest } from './support/suite.mjs'

const { Context, MemoryStorage, Session, SessionError, SystemPromptMessage } = await load('peteos-session')

const PARENT = 'agents'
/** In milliseconds; a call takes a few. */
const LONGEST_CALL = 2_000

const damages = {
  cut: (files, random) => change(files, random, (bytes) => bytes.subarray(0, random.below(bytes.length + 1))),
  'bits flipped': (files, random) =>
    change(files, random, (bytes) => {
      for (let count = 1 + random.below(4); count > 0 && bytes.length > 0; count--) {
        bytes[random.below(bytes.length)] ^= 1 << random.below(8)
      }
      return bytes
    }),
  'bytes zeroed': (files, random) =>
    change(files, random, (bytes) => {
      const from = random.below(bytes.length + 1)
      return bytes.fill(0, from, from + random.below(bytes.length - from + 1))
    }),
  'bytes inserted': (files, random) =>
    change(files, random, (bytes) => {
      const from = random.below(bytes.length + 1)
      const more = Buffer.from(Array.from({ length: 1 + random.below(20) }, () => random.below(256)))
      return Buffer.concat([bytes.subarray(0, from), more, bytes.subarray(from)])
    }),
  'text exchanged': (files, random) =>
    change(files, random, (bytes) => {
      const [from, to] = random.pick([
        ['"id"', '"di"'],
        ['"role"', '"id"'],
        ['[', '{'],
        ['null', '[]'],
        ['0', '-1'],
        ['1', '1e400'],
        ['"messages"', '"children"'],
        ['"text"', '"tool_use"'],
      ])
      return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')
    }),
  removed: (files, random) => files.delete(nameIn(files, random)),
  emptied: (files, random) => files.set(nameIn(files, random), Buffer.alloc(0)),
  duplicated: (files, random) => {
    const name = nameIn(files, random)
    const id = name.replace('.json', '')
    const copies = [
      `${id} (copy).json`,
      `${name}.bak`,
      `.${name}.tmp`,
      '20200101-copy.json',
      `${id.toUpperCase()}.json`,
    ]
    files.set(random.pick(copies), files.get(name))
  },
  swapped: (files, random) => {
    const [one, other] = [nameIn(files, random), nameIn(files, random)]
    const [first, second] = [files.get(one), files.get(other)]
    files.set(one, second).set(other, first)
  },
}

function change(files, random, edit) {
  const name = nameIn(files, random)
  if (name !== undefined) files.set(name, edit(Buffer.from(files.get(name))))
}

function nameIn(files, random) {
  const names = [...files.keys()].sort()
  return random.pick(names.length > 0 ? names : ['session.json'])
}

for (const kind of [...Object.keys(damages), 'several of these']) {
  crashTest(`damaged files: ${kind}`, { usual: 30, large: 2000 }, async (_t, { tries, random, row }) => {
    const sample = await sampleSession()
    const counts = { readable: 0, repaired: 0 }
    const lost = []
    for (let index = 0; index < tries; index++) {
      const files = new Map(sample.files)
      const kinds = damages[kind]
        ? [kind]
        : Array.from({ length: 2 + random.below(3) }, () => random.pick(Object.keys(damages)))
      for (const each of kinds) if (files.size > 0) damages[each](files, random)
      const problems = await examine(sample.uuid, files, counts)
      lost.push(...problems.map((problem) => `case ${index} (${kinds.join(', ')}): ${problem}`))
    }
    const note = `${counts.repaired} repaired`
    row({ what: kind, tries, acknowledged: counts.readable, lost, note })
  })
}

/** A session of three contexts, with special messages, tool calls, anchors and state. */
async function sampleSession() {
  const storage = new MemoryStorage()
  const session = Session.create(PARENT, { storage, systemPromptMessage: SystemPromptMessage.create('Be careful.') })
  for (let turn = 0; turn < 9; turn++) {
    session.append(message(`question ${turn} é😀`))
    const call = { type: 'tool_use', call_id: `call ${turn}`, name: 'search', arguments: '{"n": 1.0}' }
    session.append({ role: 'assistant', content: [call] })
    const content = [{ type: 'tool_result', call_id: `call ${turn}`, content: `answer ${turn}` }]
    session.append({ role: 'tool', content, metadata: { turn } })
    if (turn % 4 === 3) session.rollingSequenceWindow(4)
  }
  session.activeContext.addAnchor('here', 2)
  session.state.create('key', 'value')
  session.autoApproveTools = ['search']
  await session.save()
  return { uuid: session.uuid, files: await filesOf(storage, session.uuid) }
}

async function filesOf(storage, uuid) {
  const names = await storage.list(`${PARENT}/${uuid}`)
  return new Map(
    await Promise.all(names.map(async (name) => [name, Buffer.from(await storage.read(`${PARENT}/${uuid}/${name}`))])),
  )
}

/** Makes every call on the files; returns what went wrong. */
async function examine(uuid, files, counts) {
  const storage = new MemoryStorage()
  for (const [name, bytes] of files) await storage.write(`${PARENT}/${uuid}/${name}`, bytes)
  const problems = []
  const attempt = async (name, work) => {
    const started = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SessionError)) problems.push(`${name} threw ${error?.stack ?? error}`)
      return null
    } finally {
      const time = performance.now() - started
      if (time > LONGEST_CALL) problems.push(`${name} took ${Math.round(time)} ms`)
    }
  }
  const before = readable(files)
  counts.readable += before.size
  await attempt('load', () => Session.load(PARENT, uuid, { storage }))
  await attempt('list', () => Session.list(PARENT, { storage }))
  await attempt('check', () => Session.check(PARENT, uuid, { storage }))
  const repair = await attempt('repair', () => Session.repair(PARENT, uuid, { storage }))
  if (repair?.actions.length > 0) counts.repaired++
  const after = readable(await filesOf(storage, uuid))
  problems.push(...[...before].filter((text) => !after.has(text)).map((text) => `the repair lost ${text}`))
  const again = await attempt('second repair', () => Session.repair(PARENT, uuid, { storage }))
  if (again?.actions.length > 0) problems.push(`a second repair still changes ${again.actions[0].path}`)
  await attempt('use', () => use(uuid, storage))
  return problems
}

/** Continues with whatever loads: every context is read, the active one gets a message and a window. */
async function use(uuid, storage) {
  const session = await Session.load(PARENT, uuid, { storage })
  for (const id of await session.listContexts()) {
    await session.loadContext(id).catch((error) => {
      if (!(error instanceof SessionError)) throw error
    })
  }
  if (session.activeContext === null) return
  session.append(message('after the damage'))
  session.rollingSequenceWindow(2)
  await session.save()
}

/** The messages in the files of contexts that are whole, as text. */
function readable(files) {
  const found = new Set()
  for (const [name, bytes] of files) {
    if (name.startsWith('.') || !name.endsWith('.json') || name === 'session.json') continue
    for (const { role, content } of messagesIn(bytes)) found.add(JSON.stringify([role, content]))
  }
  return found
}

function messagesIn(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const context = Context.fromDict(JSON.parse(text))
    const { messages } = context
    context.free()
    return messages
  } catch {
    return []
  }
}
