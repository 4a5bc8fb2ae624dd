// A process that writes into one session until it is killed, or until all its writers have appended their number of messages:
// node writers.mjs <load.mjs> <parent directory> <uuid> <name> <number> <kind>...
// The first kind of writer runs in the main thread, the others in worker threads. Each message that is acknowledged is written
// to standard output as a line. A writer that meets a conflict loads the session again and repeats its change.
import { writeSync } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

const [loader, parentDir, uuid, name, number, ...kinds] = process.argv.slice(2)
const { load } = await import(loader)
const { ConflictError, Session } = await load('peteos-session')

const writers = {
  save: (text) => appended(text, (session) => session.save()),
  saveSync: (text) => appended(text, (session) => session.saveSync()),
  'save that keeps both': (text) => appended(text, (session) => session.save({ onConflict: 'fork' })),
  update: (text) => Session.update(parentDir, uuid, (session) => append(session, text)),
  repair: () => Session.repair(parentDir, uuid),
}

let session = null

/** Appends to the session that this writer keeps, and saves it; loads it again if another writer was faster. */
async function appended(text, save) {
  for (;;) {
    session ??= await Session.load(parentDir, uuid)
    append(session, text)
    try {
      return await save(session)
    } catch (error) {
      session.free()
      session = null
      if (!mayRepeat(error)) throw error
    }
  }
}

/** A busy lock is no failure either: nothing was written. */
const mayRepeat = (error) => error instanceof ConflictError || error.code === 'ELOCKED'

function append(session, text) {
  session.append({ role: 'user', content: [{ type: 'text', text }] })
}

async function write(kind, thread) {
  for (let index = 0; index < Number(number); index++) {
    const text = `${name} ${thread} ${kind} ${index}`
    try {
      await writers[kind](text)
    } catch (error) {
      if (kind !== 'repair' || !mayRepeat(error)) throw error
    }
    if (kind !== 'repair') writeSync(1, `${text}\n`)
  }
}

if (isMainThread) {
  for (const [index, kind] of kinds.slice(1).entries()) {
    new Worker(new URL(import.meta.url), { workerData: { kind, thread: index + 1 }, argv: process.argv.slice(2) })
  }
  await write(kinds[0], 0)
} else {
  await write(workerData.kind, workerData.thread)
}
