// Several processes that change one session: how fast they are together, and whether one waits longer than the others. The
// lock alone, and whole updates of a session.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Session } from '../dist/index.mjs'
import { NodeFileStorage } from '../dist/node.mjs'

const WRITERS = 4
const ROUNDS = { lock: 200, update: 60 }

/**
 * @returns Per kind of work: turns a second of all writers together; the longest and the median wait in milliseconds; and
 * how many turns the slowest writer had made when the first one was done, of those that each makes.
 */
export async function writers() {
  const results = []
  for (const [kind, rounds] of Object.entries(ROUNDS)) {
    const directory = await mkdtemp(join(tmpdir(), 'peteos-session-bench-'))
    try {
      results.push({ kind, rounds, ...(await measure(kind, directory, rounds)) })
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }
  return results
}

async function measure(kind, directory, rounds) {
  const session = Session.create(directory)
  await session.save()
  const file = fileURLToPath(import.meta.url)
  const children = Array.from({ length: WRITERS }, () => start(file, kind, directory, session.uuid, rounds))
  await Promise.all(children.map(({ ready }) => ready))
  for (const child of children) child.go()
  const turns = await Promise.all(children.map(({ turns }) => turns))
  const all = turns.flat()
  const first = Math.min(...turns.map((each) => each.at(-1).end))
  const waits = all.map(({ begin, end }) => end - begin).sort((one, other) => one - other)
  const begun = Math.min(...all.map(({ begin }) => begin))
  return {
    perSecond: (all.length / (Math.max(...all.map(({ end }) => end)) - begun)) * 1000,
    longest: waits.at(-1),
    median: waits[waits.length >> 1],
    slowest: Math.min(...turns.map((each) => each.filter(({ end }) => end <= first).length)),
  }
}

function start(...args) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let text = ''
  let isReady
  const ready = new Promise((resolve) => {
    isReady = resolve
  })
  child.stdout.on('data', (data) => {
    text += data
    if (text.includes('ready\n')) isReady()
  })
  const turns = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(text.slice('ready\n'.length)))
      else reject(new Error(`a writer ended with ${code}`))
    })
  })
  return { ready, turns, go: () => child.stdin.end() }
}

const TURNS = {
  lock: (storage, directory) => storage.lock(directory, () => new Promise((resolve) => setTimeout(resolve, 2))),
  update: (storage, directory, uuid) =>
    Session.update(
      directory,
      uuid,
      (session) => {
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Go on.' }] })
      },
      { storage },
    ),
}

/** A writer: waits until its input ends, then takes its turns. Times are those of one clock for all processes. */
async function write(kind, directory, uuid, rounds) {
  const storage = new NodeFileStorage()
  console.log('ready')
  for await (const _ of process.stdin);
  const turns = []
  const now = () => performance.timeOrigin + performance.now()
  for (let round = 0; round < Number(rounds); round++) {
    const begin = now()
    await TURNS[kind](storage, directory, uuid)
    turns.push({ begin, end: now() })
  }
  console.log(JSON.stringify(turns))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await write(...process.argv.slice(2))
