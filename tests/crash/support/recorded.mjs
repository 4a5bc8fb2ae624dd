// A process whose file calls are recorded: node recorded.mjs <directory> <scenario>. It marks the uuid of its session, and
// each message once it is acknowledged. `durable` marks the end of the preparation.
import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { load } from '../../package/support/installed.mjs'
import { order } from './orders.mjs'
import { message } from './sessions.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const [directory, name] = process.argv.slice(2)
const mark = (text) => order(directory, `mark/${text}`)

const scenarios = {
  save: () => turns(new NodeFileStorage(), (session) => session.save()),
  saveSync: () => turns(new NodeFileStorage(), async (session) => session.saveSync()),
  async update() {
    const session = await saved()
    for (let turn = 0; turn < 5; turn++) {
      await Session.update(directory, session.uuid, (found) => change(found, turn))
      acknowledge(turn)
    }
  },
  async 'save that keeps both'() {
    const session = await saved()
    for (let turn = 0; turn < 4; turn++) {
      const other = await Session.load(directory, session.uuid)
      other.append(message(`other ${turn}`))
      await other.save({ onConflict: 'fork' })
      mark(`acknowledged other ${turn}`)
      change(session, turn)
      await session.save({ onConflict: 'fork' })
      acknowledge(turn)
    }
  },
  async remove() {
    const session = await saved()
    for (let turn = 0; turn < 6; turn++) {
      change(session, turn)
      await session.save()
    }
    const active = session.activeContextId
    for (const { content } of session.activeContext.messages) mark(`acknowledged ${content[0].text}`)
    mark('durable')
    for (const id of await session.listContexts()) {
      if (id !== active) await session.storage.remove(`${session.sessionDir}/${id}.json`)
    }
  },
  'faulty: no fsync before the rename': () => turns(new Unsynced(), (session) => session.save()),
  'faulty: no fsync at all': () => turns(new NeverSynced(), (session) => session.save()),
  'faulty: session.json first': () => turns(new SessionFirst(), (session) => session.save()),
}

async function saved() {
  const session = Session.create(directory)
  mark(`uuid ${session.uuid}`)
  await session.save()
  mark('acknowledged')
  return session
}

async function turns(storage, save) {
  const session = Session.create(directory, { storage })
  mark(`uuid ${session.uuid}`)
  await save(session)
  mark('acknowledged')
  for (let turn = 0; turn < 6; turn++) {
    change(session, turn)
    await save(session)
    acknowledge(turn)
  }
}

/** Appends; every other turn also makes a window, so that a new context and session.json are written. */
function change(session, turn) {
  session.append(message(`turn ${turn}`))
  if (turn % 2 === 1) session.rollingSequenceWindow(1)
  if (turn % 3 === 2) session.state.create(`state ${turn}`, 'set')
}

const acknowledge = (turn) => mark(`acknowledged turn ${turn}`)

class Unsynced extends NodeFileStorage {
  async write(path, data) {
    await super.write(join(dirname(path), '.made'), new Uint8Array())
    writeFileSync(`${path}.tmp`, data)
    renameSync(`${path}.tmp`, path)
    await super.write(join(dirname(path), '.made'), new Uint8Array())
  }
}

class NeverSynced extends NodeFileStorage {
  #unsynced = new NodeFileStorage({ durability: 'unsafe-on-power-loss' })
  write(...args) {
    return this.#unsynced.write(...args)
  }
}

class SessionFirst extends NodeFileStorage {
  #later = []
  async write(...args) {
    if (!args[0].endsWith('session.json')) return void this.#later.push(args)
    await super.write(...args)
    for (const each of this.#later.splice(0)) await super.write(...each)
  }
  async digest(path) {
    return this.#later.some(([later]) => later === path) ? undefined : super.digest(path)
  }
}

await scenarios[name]()
