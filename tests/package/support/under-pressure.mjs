// Random operations of all kinds on sessions in a memory that is too small for them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as api from 'peteos-session/slim'
import { limitedModule } from './limited-module.mjs'

const { Context, MemoryLimitError, MemoryStorage, memoryUsage, Session } = api
const MB = 2 ** 20
const LIMIT = 32 * MB
/** A quarter more than the limit: for what the allocator cannot use. */
const ENGINE = 40 * MB

/**
 * Runs random operations. Each must succeed or throw a MemoryLimitError; then the session is as it was. In the end everything
 * that is released can be used again.
 */
export async function underPressure({ seed, operations }) {
  const file = (name) => readFileSync(new URL(name, import.meta.resolve('peteos-session/slim')))
  // The module of the providers has a memory of its own.
  const providers = file('peteos_session_providers_bg.wasm')
  await api.init({ module: limitedModule(ENGINE), providers, maxMemory: LIMIT })
  await api.loadEncoding('cl100k_base', file('encodings/cl100k_base.bin'))
  const world = new World(seed)
  const { used } = memoryUsage()
  let [done, refused] = [0, 0]
  for (let count = 0; count < operations; count++) {
    const name = world.pick(Object.keys(OPERATIONS))
    const session = world.session()
    const before = stateOf(session)
    try {
      await OPERATIONS[name](world, session)
      done++
    } catch (error) {
      const where = `seed ${seed}, operation ${count}: ${name}`
      assert.ok(error instanceof MemoryLimitError, `${where}: ${error.stack}`)
      assert.doesNotMatch(error.message, /^this call/, `${where}: an allocation that nobody asked for`)
      assert.deepEqual(stateOf(session), before, where)
      refused++
    }
    assert.ok(memoryUsage().used < LIMIT + MB, `${name} left ${memoryUsage().used} bytes in use`)
  }
  assert.ok(done > operations / 2 && refused > operations / 100, `${done} done, ${refused} refused`)
  world.releaseAll()
  await new Promise((resolve) => setTimeout(resolve))
  Session.create('a', { storage: world.storage }).activeContext.append(textMessage('x'.repeat(MB)))
  assert.ok(memoryUsage().used < LIMIT && used < LIMIT)
  console.log(`${done} done, ${refused} refused`)
}

/** What must not change if an operation fails. */
function stateOf(session) {
  if (session === undefined) return undefined
  const context = session.activeContext
  return [session.activeContextId, context.messageCount, context.id, session.state.list().length, session.isActive]
}

const textMessage = (text) => ({ role: 'user', content: [{ type: 'text', text }] })

class World {
  storage = new MemoryStorage()
  #held = []
  #random

  constructor(seed) {
    this.#random = seed
  }

  number(below) {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((this.#random / 2_147_483_648) * below)
  }

  pick(items) {
    return items[this.number(items.length)]
  }

  /** One of the sessions, at most twelve. */
  session() {
    if (this.#held.length === 0 || (this.#held.length < 12 && this.number(8) === 0)) this.#held.push(this.#create())
    return this.pick(this.#held)
  }

  #create() {
    try {
      return Session.create('a', { storage: this.storage })
    } catch (error) {
      this.releaseAll()
      throw error
    }
  }

  hold(session) {
    this.#held.push(session)
    if (this.#held.length > 12) this.release(this.#held[0])
  }

  release(session) {
    this.#held.splice(this.#held.indexOf(session), 1)
    session.free()
  }

  releaseAll() {
    for (const session of this.#held.splice(0)) session.free()
  }

  text() {
    const make = [
      () => 'x'.repeat(this.number(4 * MB)),
      () => 'é'.repeat(this.number(MB)),
      () => '\u0001'.repeat(this.number(MB)),
      () => 'a b '.repeat(this.number(MB / 2)),
      () => 'short',
    ]
    return this.pick(make)()
  }

  value() {
    const list = (count, make) => Array.from({ length: this.number(count) }, make)
    const nested = (depth) => JSON.parse(`${'[1,'.repeat(depth)}1${']'.repeat(depth)}`)
    const make = [
      () => list(60_000, () => 1),
      () => list(30_000, () => ({})),
      () => list(30_000, () => ({ a: 1 })),
      () => nested(this.number(800)),
      () => list(800, () => nested(100)),
      () => Object.fromEntries(list(20_000, (_, index) => [`k${index}`, index])),
    ]
    return this.pick(make)()
  }

  message() {
    const content = Array.from({ length: this.number(3) }, () => ({ type: 'text', text: this.text() }))
    const message = { role: this.pick(['user', 'assistant']), content }
    return this.number(3) === 0 ? { ...message, metadata: { value: this.value() } } : message
  }

  /** The uuid of a stored session; at most six are kept. */
  async stored() {
    const sessions = await Session.list('a', { storage: this.storage })
    for (const { sessionDir } of sessions.slice(6)) {
      for (const name of await this.storage.list(sessionDir)) await this.storage.remove(`${sessionDir}/${name}`)
    }
    return this.pick(sessions.slice(0, 6))?.uuid
  }
}

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ai-sdk']
const copy = (value) => JSON.parse(JSON.stringify(value))

/** Runs a call that other errors than those of memory may refuse. */
async function unless(codes, call) {
  try {
    await call()
  } catch (error) {
    if (!codes.includes(error.code)) throw error
  }
}

const OPERATIONS = {
  append: (world, session) => session.activeContext.append(world.message()),
  appendMany(world, session) {
    const call = (id) => ({ type: 'tool_use', call_id: `c${id}`, name: 'n', arguments: '{}' })
    const messages = Array.from({ length: world.number(2000) }, (_, id) => ({ role: 'assistant', content: [call(id)] }))
    session.setActiveContext(Context.fromDict({ messages }))
  },
  update(world, { activeContext }) {
    const message = activeContext.messages[0]
    if (message !== undefined) activeContext.updateMessage(message.id, { metadata: { value: world.value() } })
  },
  save: (_, session) => unless(['ERR_CONFLICT'], () => session.save()),
  saveSync: (_, session) => unless(['ERR_CONFLICT'], () => session.saveSync()),
  saveFork: (_, session) => unless(['ERR_CONFLICT'], () => session.save({ onConflict: 'fork' })),
  async load(world) {
    const uuid = await world.stored()
    if (uuid !== undefined) world.hold(await Session.load('a', uuid, { storage: world.storage }))
  },
  async check(world) {
    const uuid = await world.stored()
    if (uuid !== undefined) await Session.check('a', uuid, { storage: world.storage })
  },
  async repair(world) {
    const uuid = await world.stored()
    if (uuid !== undefined) await Session.repair('a', uuid, { storage: world.storage })
  },
  window: (world, session) => session.rollingSequenceWindow(world.number(20)),
  tokenWindow: (world, session) => session.rollingTokenWindow(world.number(100_000)),
  plan: (world, { activeContext }) => activeContext.planTokenWindow(world.number(100_000)),
  fork: (_, session) => session.setActiveContext(session.activeContext.fork()),
  stripThinking: (_, { activeContext }) => activeContext.stripThinking(),
  read: (_, { activeContext }) => activeContext.messages,
  convert: (world, { activeContext }) =>
    unless(['ERR_INVALID_ARGUMENT'], () => {
      const provider = world.pick(PROVIDERS)
      api.fromMessages(api.toMessages(activeContext, provider, { repair: world.number(2) === 0 }), provider)
    }),
  checkForProvider: (world, { activeContext }) => api.check(activeContext, world.pick(['anthropic', 'openai-chat'])),
  count: (world) => api.countTokens(world.text()),
  countContext: (_, { activeContext }) => activeContext.totalTokenCount(),
  encode: (world) => api.decode(api.encode(world.text())),
  longWord: (world) => api.countTokens('\u0e23\u0e32\u0e19'.repeat(world.number(MB / 4))),
  fromDict: (_, { activeContext }) => Context.fromDict(activeContext.rawDict),
  replaceDict(_, { activeContext }) {
    activeContext.rawDict = copy(activeContext.rawDict)
  },
  replaceSessionDict(_, session) {
    session.rawDict = copy(session.rawDict)
  },
  state: (world, session) => session.state.create(`n${world.number(1e9)}`, world.text()),
  message: (world) => api.Message.create('user', [{ type: 'text', text: world.text() }]),
  name: (world, session) => session.state.get(world.text()),
  release: (world, session) => world.release(session),
}
