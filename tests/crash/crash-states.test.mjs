// Power losses: the file calls of a writer are recorded, and what a disk may hold after a crash at any of them is opened.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempDir } from '../package/support/files.mjs'
import { load } from '../package/support/installed.mjs'
import { Disk, recordedCalls } from './support/disk.mjs'
import { runIntercepted, whyNoPreload } from './support/preload.mjs'
import { message, textsOf } from './support/sessions.mjs'
import { crashTest } from './support/suite.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const RECORDED = fileURLToPath(new URL('support/recorded.mjs', import.meta.url))
const skip = whyNoPreload()
/** In seconds. */
const RESTART = 60
/** Opening a state needs no sync. */
const storage = new NodeFileStorage({ durability: 'unsafe-on-power-loss' })

for (const name of ['save', 'saveSync', 'update', 'save that keeps both', 'remove']) {
  crashTest(`crash states: ${name}`, { usual: 60, large: 5000, skip }, async (t, { tries, random, row }) => {
    const { lost, acknowledged, calls } = await crashStates(t, name, tries, random)
    row({ what: name, tries, acknowledged, lost, note: `at ${calls} calls` })
  })
}

for (const name of ['no fsync before the rename', 'no fsync at all', 'session.json first']) {
  crashTest(
    `a faulty writer is found: ${name}`,
    { usual: 200, large: 1000, skip },
    async (t, { tries, random, row }) => {
      const { lost, acknowledged, calls } = await crashStates(t, `faulty: ${name}`, tries, random)
      t.diagnostic(lost[0])
      assert.ok(lost.length > 0, 'the simulator finds the losses of a writer with this fault')
      row({
        what: `found: ${name}`,
        tries,
        acknowledged,
        lost: [],
        note: `at ${calls} calls, ${lost.length} losses found`,
      })
    },
  )
}

/** Opens `tries` states after crashes of the writer, spread evenly over its calls. */
async function crashStates(t, name, tries, random) {
  const top = tempDir(t)
  const directory = join(top, 'sessions')
  mkdirSync(directory)
  runIntercepted(RECORDED, [name], directory, join(top, 'log'))
  const log = recordedCalls(readFileSync(join(top, 'log'), 'utf8'))
  const isPreparation = preparation(log)
  const calls = log.filter(({ call }, index) => call !== 'mark' && !isPreparation(index)).length
  const disk = new Disk(directory)
  const known = { uuid: undefined, isSaved: false, texts: [] }
  const lost = []
  let [acknowledged, done] = [0, 0]
  let due = 0
  for (const [index, entry] of log.entries()) {
    if (entry.call === 'mark') note(known, entry.text, disk)
    else disk.apply(entry)
    if (isPreparation(index) || entry.call === 'mark') continue
    due += tries / calls
    for (; done < Math.round(due); done++) {
      const folder = mkdtempSync(join(top, 'state-'))
      disk.writeState(folder, random)
      ageLock(folder, known.uuid)
      const problem = await open(folder, known)
      if (problem !== null) lost.push(`after call ${index} (${entry.call}): ${problem}`)
      acknowledged += known.texts.length
      rmSync(folder, { recursive: true })
    }
  }
  return { lost, acknowledged, calls }
}

/** Whether the call at an index belongs to the preparation, before which nothing crashes. */
function preparation(log) {
  const end = log.findIndex(({ call, text }) => call === 'mark' && text === 'durable')
  return (index) => index < end
}

function note(known, text, disk) {
  if (text.startsWith('uuid ')) known.uuid = text.slice(5)
  else if (text === 'acknowledged') known.isSaved = true
  else if (text.startsWith('acknowledged ')) known.texts.push(text.slice('acknowledged '.length))
  else if (text === 'durable') disk.settle()
}

/** Opens a state as a user does, checks it and continues. Returns what is wrong, or `null`. */
async function open(folder, { uuid, isSaved, texts }) {
  try {
    missing('load', texts, await textsOf(folder, uuid, storage))
    if (!(await Session.check(folder, uuid, { storage })).ok) {
      await Session.repair(folder, uuid, { storage })
      const { ok, findings } = await Session.check(folder, uuid, { storage })
      if (!ok) throw new Error(`the repair leaves ${findings.map(({ message }) => message).join('; ')}`)
    }
    await Session.update(folder, uuid, (session) => session.append(message('after the crash')), { storage })
    missing('continue', [...texts, 'after the crash'], await textsOf(folder, uuid, storage))
    return null
  } catch (error) {
    return !isSaved && error.name === 'SessionNotFoundError' ? null : `${error.name}: ${error.message}`
  }
}

/** A machine needs a while to start again: a lock from before is old. */
function ageLock(folder, uuid) {
  const lock = join(folder, String(uuid), '.lock')
  if (existsSync(lock)) utimesSync(lock, Date.now() / 1000 - RESTART, Date.now() / 1000 - RESTART)
}

function missing(when, texts, found) {
  const lost = texts.filter((text) => !found.has(text))
  if (lost.length > 0) throw new Error(`${when}: acknowledged and not there: ${lost.join(', ')}`)
}
