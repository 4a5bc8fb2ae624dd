// The cost of an operation compared with `JSON` alone on the same data.
import { ContentPart, Context, MemoryStorage, Message, Session } from '../dist/index.mjs'
import { once, perCall } from './measure.mjs'

const APPENDS = 1_000
const SESSIONS = 1_000
/** Makes a message of about a kilobyte of JSON. */
const TEXT = 'The quick brown fox jumps over the lazy dog, and the session remembers it. '.repeat(12)

export async function besideJson() {
  const storage = await storageOfSessions()
  const plain = { role: 'user', content: [ContentPart.text(TEXT)] }
  const create = () => Message.create('user', [ContentPart.text(TEXT)])
  const append = (message) => () => {
    const context = Context.create()
    const cost = perCall(APPENDS, () => context.append(message()))
    context.free()
    return cost
  }
  const json = () => perCall(APPENDS, () => JSON.parse(JSON.stringify(plain)))
  const list = (work) => () => once(work)
  const row = (name, ours, alone) => [
    { row: name, column: 'this package', run: ours },
    { row: name, column: 'JSON alone', run: alone },
  ]
  return [
    ...row(
      'append a message of 1 kB',
      append(() => plain),
      json,
    ),
    ...row('Message.create and append, 1 kB', append(create), json),
    ...row(
      `Session.list of ${SESSIONS} sessions`,
      list(() => Session.list('bench', { storage })),
      list(() => listWithJson(storage)),
    ),
  ]
}

/** Adds the ratio to each row of the result of `interleaved`. */
export function withRatios(results) {
  const median = (row, column) => results.find((result) => result.row === row && result.column === column).median
  const rows = [...new Set(results.map(({ row }) => row))]
  return rows.map((row) => {
    const [ours, json] = [median(row, 'this package'), median(row, 'JSON alone')]
    return { row, ours, json, ratio: ours / json }
  })
}

async function storageOfSessions() {
  const storage = new MemoryStorage()
  for (let index = 0; index < SESSIONS; index++) await Session.create('bench', { storage }).save()
  return storage
}

/** The summaries of all sessions, read from the files without validation. */
async function listWithJson(storage) {
  const decoder = new TextDecoder()
  const uuids = await storage.list('bench')
  const read = async (uuid) => JSON.parse(decoder.decode(await storage.read(`bench/${uuid}/session.json`)))
  return Promise.all(uuids.map(read))
}
