// A process whose file calls fail: node failing.mjs <directory> <entry> <tries> <seed>. For the entry of the library that is
// named, the k-th call of each kind fails in each way, for every k; of these cases it takes `tries` at random. It prints the
// result as JSON.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { load } from '../../package/support/installed.mjs'
import { order } from './orders.mjs'
import { hiddenNames, message, textsOf } from './sessions.mjs'
import { Random } from './suite.mjs'

const { Session, SessionError } = await load('peteos-session')

const [directory, entry, tries, seed] = process.argv.slice(2)

/** A read or a write of half the bytes, and the end of the file before its time. */
const SHORT = -1
const END = -2

const { EACCES, EDQUOT, EINTR, EIO, EMFILE, ENFILE, ENOSPC, EROFS } = constants.errno
const FAILURES = {
  open: [ENOSPC, EIO, EMFILE, ENFILE, EINTR, EDQUOT, EACCES],
  read: [EIO, EINTR, SHORT, END],
  write: [ENOSPC, EIO, EINTR, EDQUOT, SHORT],
  fsync: [ENOSPC, EIO, EINTR, EDQUOT],
  rename: [ENOSPC, EIO, EINTR, EDQUOT],
  link: [ENOSPC, EIO, EINTR, EDQUOT],
  unlink: [EIO, EINTR, EROFS],
  mkdir: [ENOSPC, EIO, EDQUOT],
  rmdir: [EIO],
  list: [EIO, EMFILE],
}

const OLD = ['old 0', 'old 1', 'old 2']
const NEW = ['new 0', 'new 1']
const MOST_CALLS = 1_000_000

/** How each entry begins, what it does, and which messages are there once it has succeeded. */
const entries = {
  'first save': {
    begin: (parentDir) => {
      const session = Session.create(join(parentDir, 'new', 'directory'))
      return held(join(parentDir, 'new', 'directory'), session, [])
    },
    run: ({ session }) => session.save(),
  },
  save: { begin: (parentDir) => loaded(parentDir), run: ({ session }) => session.save() },
  saveSync: { begin: (parentDir) => loaded(parentDir), run: async ({ session }) => session.saveSync() },
  'save that keeps both': {
    async begin(parentDir) {
      const state = await loaded(parentDir)
      await Session.update(parentDir, uuid, (other) => other.append(message('theirs')))
      return { ...state, before: [...OLD, 'theirs'] }
    },
    run: ({ session }) => session.save({ onConflict: 'fork' }),
  },
  update: {
    begin: async (parentDir) => ({ parentDir, uuid, before: OLD, added: NEW, session: null }),
    run: ({ parentDir }) => Session.update(parentDir, uuid, change),
  },
  repair: {
    async begin(parentDir) {
      for (const name of ['session', fixed]) {
        const path = join(parentDir, uuid, `${name}.json`)
        writeFileSync(path, readFileSync(path, 'utf8').trimEnd().slice(0, -2))
      }
      return { parentDir, uuid, before: OLD, added: [], session: null, isDamaged: true }
    },
    run: ({ parentDir }) => Session.repair(parentDir, uuid),
  },
}

const template = join(directory, 'template')
const { uuid, fixed } = await prepare()

/** A session of two contexts. `fixed` is the one that is not active. */
async function prepare() {
  const session = Session.create(template)
  const [first, ...rest] = OLD
  session.append(message(first))
  const fixed = session.activeContextId
  for (const text of rest) session.append(message(text))
  session.rollingSequenceWindow(1)
  await session.save()
  return { uuid: session.uuid, fixed }
}

async function loaded(parentDir) {
  return held(parentDir, await Session.load(parentDir, uuid), OLD)
}

function held(parentDir, session, before) {
  change(session)
  return { parentDir, uuid: session.uuid, session, before, added: NEW, memory: memoryOf(session) }
}

function change(session) {
  session.append(message(NEW[0]))
  session.rollingSequenceWindow(1)
  session.append(message(NEW[1]))
  session.state.create(`changed ${session.activeContextId}`, 'yes')
}

const memoryOf = (session) => [session.rawDict, session.activeContext.rawDict]

let made = 0

/** Runs one case; returns what it did wrong, and whether it succeeded. */
async function attempt({ call, error, at, lasting }) {
  const parentDir = join(directory, `case ${made++}`)
  cpSync(template, parentDir, { recursive: true })
  const state = await entries[entry].begin(parentDir)
  order(directory, `fail/${call}/${at}/${error}/${lasting}`)
  const refusal = await entries[entry].run(state).then(
    () => null,
    (thrown) => thrown ?? new Error('threw nothing'),
  )
  order(directory, 'calm')
  try {
    await verify(state, refusal, call)
    return { refused: refusal !== null }
  } catch (problem) {
    const name = Object.keys(constants.errno).find((key) => constants.errno[key] === error)
    const kind = { [SHORT]: 'short', [END]: 'early end' }[error] ?? name
    const said = refusal === null ? 'succeeded' : `${refusal.name} ${refusal.code}: ${refusal.message}`
    return {
      problem: `${entry}: ${call} ${at}${lasting ? ' and all later' : ''}, ${kind} (${said}): ${problem.message}`,
    }
  } finally {
    state.session?.free()
    rmSync(parentDir, { recursive: true, force: true })
  }
}

async function verify(state, refusal, call) {
  const { parentDir, session, before, added, isDamaged } = state
  if (refusal !== null) {
    assert.ok(refusal instanceof SessionError, `an error without a type: ${refusal.stack}`)
    assert.match(refusal.code, /^E[A-Z_]+$/)
    if (session !== null) assert.deepEqual(memoryOf(session), state.memory, 'the session in memory changed')
  }
  const isThere = refusal === null || (!isDamaged && before.length > 0)
  if (isThere) await found(state, refusal === null ? [...before, ...added] : before, 'after the call')
  if (session !== null) {
    await session.save(entry === 'save that keeps both' ? { onConflict: 'fork' } : {})
    session.state.create('after', 'calm')
    await session.save()
  } else {
    await entries[entry].run(state)
  }
  await found(state, [...before, ...added], 'after the next call')
  // A temporary file that could not be removed stays until this process has ended.
  const stays = call === 'unlink' ? /\.(bak|tmp)$/ : /\.bak$/
  const left = hiddenNames(join(parentDir, state.uuid)).filter((name) => !stays.test(name))
  assert.deepEqual(left, [], 'files are left')
  const { ok, findings } = await Session.check(parentDir, state.uuid)
  assert.ok(ok, `the check finds ${findings.map((finding) => finding.message).join('; ')}`)
}

async function found({ parentDir, uuid }, texts, when) {
  const there = await textsOf(parentDir, uuid)
  const lost = texts.filter((text) => !there.has(text))
  assert.deepEqual(lost, [], `${when}: messages are lost`)
}

/** How many calls of a kind the entry makes. */
async function callsOf(call) {
  await attempt({ call, error: EIO, at: MOST_CALLS, lasting: 0 })
  let count = 0
  while (order(directory, `reached/${count + 1}`)) count++
  return count
}

const cases = []
for (const [call, errors] of Object.entries(FAILURES)) {
  const count = await callsOf(call)
  for (const error of errors) {
    // Node repeats an interrupted call for ever.
    for (const lasting of error === EINTR ? [0] : [0, 1]) {
      for (let at = 1; at <= count; at++) cases.push({ call, error, at, lasting })
    }
  }
}
const random = new Random(Number(seed))
const chosen = cases
  .map((each) => ({ each, rank: random.next() }))
  .sort((one, other) => one.rank - other.rank)
  .slice(0, Number(tries))
const result = { cases: cases.length, tries: chosen.length, refused: 0, lost: [] }
for (const { each } of chosen) {
  const { problem, refused } = await attempt(each)
  if (problem !== undefined) result.lost.push(problem)
  if (refused) result.refused++
}
console.log(JSON.stringify(result))
