// Nothing is lost with killed processes, several writers, full disks, or a storage that fails at any call.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fencedBlocks } from '../support/code-blocks.mjs'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { load, packageDir } from '../support/installed.mjs'
import { script, start } from '../support/processes.mjs'
import { text } from '../support/values.mjs'

const { Context, MemoryStorage, Session } = await load('peteos-session')

const textsOf = (context) => context.messages.map(({ content }) => content[0].text)
const hidden = (directory) => readdirSync(directory).filter((name) => name.startsWith('.'))

/** `PETEOS_KILLS=2000` kills more processes; each saves three sessions. */
const KILLS = Number(process.env.PETEOS_KILLS ?? 200)

test(`${KILLS} processes that are killed while they save three sessions each lose nothing that was acknowledged, and leave no litter after the next save`, async (t) => {
  const file = script(
    t,
    `
    import { writeSync } from 'node:fs'
    import { Session } from 'peteos-session'
    const [directory, round, ...uuids] = process.argv.slice(2)
    await Promise.all(uuids.map(async (uuid) => {
      const session = await Session.load(directory, uuid)
      for (let number = 0; ; number++) {
        const text = uuid + ' ' + round + '-' + number
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text }] })
        if (number % 9 === 5) session.rollingSequenceWindow(30)
        await session.save()
        writeSync(1, text + '\\n')
      }
    }))
  `,
  )
  const counts = { acknowledged: 0, litter: 0 }
  const lane = async (number) => {
    const directory = tempDir(t)
    const sessions = [1, 2, 3].map(() => Session.create(directory))
    for (const session of sessions) await session.save()
    const acknowledged = []
    for (let round = 0; round < KILLS / 2; round++) {
      const child = start(file, directory, round, ...sessions.map(({ uuid }) => uuid))
      await child.first
      await new Promise((resolve) => setTimeout(resolve, (7 * round + 3 * number) % 25))
      child.kill()
      assert.equal(await child.ended, 'SIGKILL')
      acknowledged.push(...child.lines)
      for (const { uuid, sessionDir } of sessions) {
        counts.litter += hidden(sessionDir).length
        const again = await Session.load(directory, uuid)
        const last = child.lines.filter((line) => line.startsWith(uuid)).at(-1)
        assert.ok(last === undefined || textsOf(again.activeContext).includes(last), `${last} was acknowledged`)
        again.state.create(`round ${round}`, 'seen')
        await again.save()
        assert.deepEqual(hidden(sessionDir), [])
      }
    }
    const found = new Set()
    for (const { uuid } of sessions) {
      const last = await Session.load(directory, uuid)
      for (const id of await last.listContexts()) textsOf(await last.loadContext(id)).forEach((each) => found.add(each))
    }
    assert.deepEqual(
      acknowledged.filter((each) => !found.has(each)),
      [],
    )
    counts.acknowledged += acknowledged.length
  }
  await Promise.all([1, 2].map(lane))
  t.diagnostic(
    `${KILLS} processes were killed, ${counts.acknowledged} messages acknowledged, ${counts.litter} files left and cleared`,
  )
  assert.ok(counts.acknowledged >= KILLS && counts.litter > 0, 'some were killed while they wrote')
})

test('three processes append to one session at once: it holds exactly the acknowledged messages', async (t) => {
  const file = script(
    t,
    `
    import { writeSync } from 'node:fs'
    import { ConflictError, Session } from 'peteos-session'
    const [directory, uuid, name] = process.argv.slice(2)
    let conflicts = 0
    for (let number = 0; number < 25; number++) {
      for (;;) {
        const session = await Session.load(directory, uuid)
        session.activeContext.append({ role: 'user', content: [{ type: 'text', text: name + number }] })
        try {
          await session.save()
          break
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
          conflicts++
        }
      }
      writeSync(1, name + number + '\\n')
    }
    writeSync(1, 'conflicts ' + conflicts + '\\n')
  `,
  )
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const children = ['a', 'b', 'c'].map((name) => start(file, directory, session.uuid, name))
  assert.deepEqual(await Promise.all(children.map(({ ended }) => ended)), [0, 0, 0])
  const acknowledged = children.flatMap(({ lines }) => lines.slice(0, -1))
  const conflicts = children.map(({ lines }) => Number(lines.at(-1).split(' ')[1]))
  const again = await Session.load(directory, session.uuid)
  assert.equal(acknowledged.length, 75)
  assert.deepEqual(textsOf(again.activeContext).sort(), acknowledged.sort())
  assert.ok(
    conflicts.some((count) => count > 0),
    "they were in each other's way",
  )
  assert.deepEqual(hidden(session.sessionDir), [])
})

/** Runs in a file system of 300 kB; skips the test if none can be mounted. */
function withTinyDisk(t) {
  const directory = mkdtempSync(join(tmpdir(), 'peteos-session-full-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', directory], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(directory)
    t.skip(`no tmpfs can be mounted here, so a full disk is not tested: ${String(error.stderr ?? error).trim()}`)
    return null
  }
  t.after(() => {
    execFileSync('umount', [directory])
    rmdirSync(directory)
  })
  return directory
}

test('a full disk is ENOSPC, keeps the old state, leaves no litter, and the session can be saved once there is room', async (t) => {
  const directory = withTinyDisk(t)
  if (directory === null) return
  const session = Session.create(directory)
  session.activeContext.append(text('kept'))
  await session.save()
  const before = textsUnder(session.sessionDir)
  // First the new state does not fit, then not even the lock.
  session.activeContext.append(text('x'.repeat(400_000)))
  const refusal = () => refused(() => session.save(), 'StorageError', { code: 'ENOSPC' })
  assert.equal((await refusal()).cause.code, 'ENOSPC')
  assert.deepEqual(textsUnder(session.sessionDir), before)
  const filler = join(directory, 'filler')
  const free = statfsSync(directory)
  writeFileSync(filler, Buffer.alloc(free.bavail * free.bsize))
  await refusal()
  await refusal()
  assert.deepEqual(textsUnder(session.sessionDir), before)
  assert.deepEqual(textsOf((await Session.load(directory, session.uuid)).activeContext), ['kept'])
  const other = Session.create(directory)
  await refused(() => other.save(), 'StorageError', { code: 'ENOSPC' })
  assert.equal((await Session.list(directory)).length, 1)
  execFileSync('mount', ['-o', 'remount,size=4m', directory])
  await session.save()
  await other.save()
  assert.deepEqual(textsOf((await Session.load(directory, session.uuid)).activeContext), ['kept', 'x'.repeat(400_000)])
  assert.deepEqual(hidden(session.sessionDir), [])
})

/** Fails at one call of any method, counted from 1. */
class FailingStorage extends MemoryStorage {
  failAt = 0
  calls = 0
  #call(method, path) {
    if (++this.calls === this.failAt) throw Object.assign(new Error(`${method} fails`), { code: 'EIO', path })
  }
  async read(path) {
    this.#call('read', path)
    return super.read(path)
  }
  async write(path, data) {
    this.#call('write', path)
    super.writeSync(path, data)
    // Sometimes the write reports a failure although the contents were written.
    this.#call('write', path)
  }
  async list(directory) {
    this.#call('list', directory)
    return super.list(directory)
  }
  async digest(path) {
    this.#call('digest', path)
    return super.digestSync(path)
  }
  writeSync(path, data) {
    this.#call('writeSync', path)
    super.writeSync(path, data)
  }
  digestSync(path) {
    this.#call('digestSync', path)
    return super.digestSync(path)
  }
  async lock(directory, work) {
    this.#call('lock', directory)
    const value = await super.lock(directory, work)
    this.#call('unlock', directory)
    return value
  }
}

test('a storage that fails at its k-th call of a save, for every k, keeps the old or the new state, and the next save succeeds', async () => {
  let failAt = 1
  for (; ; failAt++) {
    const storage = new FailingStorage()
    const session = Session.create('a', { storage })
    const first = session.activeContext
    first.append(text('1'))
    first.append(text('2'))
    await session.save()
    const state = async () => {
      storage.failAt = 0
      const { rawDict, activeContext } = await Session.load('a', session.uuid, { storage })
      return [rawDict, activeContext.rawDict]
    }
    const old = await state()
    first.append(text('3'))
    const second = session.rollingSequenceWindow(1)
    session.setActiveContext(Context.create())
    session.activeContext.append(text('4'))
    const ours = [session.rawDict, session.activeContext.rawDict]
    ;[storage.failAt, storage.calls] = [failAt, 0]
    const error = await session.save().then(
      () => null,
      (error) => error,
    )
    const found = await state()
    const isOld = JSON.stringify(found[0]) === JSON.stringify(old[0])
    // The old session may name a context that already has its new messages, but never fewer than before.
    if (isOld) assert.equal(found[1].messages.length >= old[1].messages.length, true)
    else assert.deepEqual(found, ours)
    assert.deepEqual([session.rawDict, session.activeContext.rawDict], ours)
    if (error === null) break
    assert.equal(error.name, 'StorageError')
    assert.equal(error.code, 'EIO')
    session.activeContext.append(text('5'))
    await session.save()
    assert.deepEqual(await state(), [session.rawDict, session.activeContext.rawDict])
    const again = await Session.load('a', session.uuid, { storage })
    for (const context of [first, second])
      assert.deepEqual((await again.loadContext(context.id)).rawDict, context.rawDict)
  }
  assert.equal(failAt, 15, 'lock, four digests, four writes that fail before or after, unlock')
})

test('a faulty lock is a StorageError', async () => {
  const cases = {
    'does not run its work': async () => undefined,
    'throws at once': () => {
      throw Object.assign(new Error('the lock fails'), { code: 'EACCES' })
    },
    rejects: async () => {
      throw Object.assign(new Error('the lock fails'), { code: 'EACCES' })
    },
  }
  for (const [about, lock] of Object.entries(cases)) {
    const storage = new MemoryStorage()
    const session = Session.create('a', { storage })
    storage.lock = lock
    const expected = {
      operation: 'lock',
      path: session.sessionDir,
      ...(about.startsWith('does') ? {} : { code: 'EACCES' }),
    }
    await refused(() => session.save(), 'StorageError', expected, about)
    assert.deepEqual(await storage.list('a'), [])
    delete storage.lock
    await session.save()
  }
})

test('a save without changes takes no lock', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  await session.save()
  storage.lock = () => assert.fail('locked')
  await session.save()
  await (await Session.load('a', session.uuid, { storage })).save()
})

test('a storage that fails at its k-th call of any other operation, for every k, is a StorageError, and the files are unchanged', async () => {
  const theirs = async (storage, uuid) => {
    const session = await Session.load('a', uuid, { storage })
    session.activeContext.append(text('theirs'))
    await session.save()
  }
  const operations = {
    load: ({ storage, uuid }) => Session.load('a', uuid, { storage }),
    list: async ({ storage }) => {
      const errors = []
      await Session.list('a', { storage, onError: (error) => errors.push(error) })
      if (errors.length > 0) throw errors[0]
    },
    listContexts: ({ session }) => session.listContexts(),
    loadContext: ({ session, other }) => session.loadContext(other),
    check: ({ storage, uuid }) => Session.check('a', uuid, { storage }),
    saveSync: async ({ session }) => session.saveSync(),
    'save that keeps both': async ({ session }) => session.save({ onConflict: 'fork' }),
  }
  for (const [name, operation] of Object.entries(operations)) {
    let failAt = 1
    for (; ; failAt++) {
      const storage = new FailingStorage()
      const created = Session.create('a', { storage })
      created.activeContext.append(text('1'))
      const other = created.activeContextId
      created.setActiveContext(Context.create())
      await created.save()
      const { uuid } = created
      const session = await Session.load('a', uuid, { storage })
      const writes = name.startsWith('save')
      if (writes) session.activeContext.append(text('ours'))
      if (name === 'save that keeps both') await theirs(storage, uuid)
      const files = async () => {
        storage.failAt = 0
        const names = await storage.list(`a/${uuid}`)
        return Promise.all(
          names.sort().map(async (file) => [file, Buffer.from(await storage.read(`a/${uuid}/${file}`)).toString()]),
        )
      }
      const before = await files()
      ;[storage.failAt, storage.calls] = [failAt, 0]
      const error = await operation({ storage, uuid, session, other }).then(
        (result) => (result?.findings?.length ? result : null),
        (error) => error,
      )
      if (!writes) assert.deepEqual(await files(), before, `${name} ${failAt}`)
      storage.failAt = 0
      assert.ok(await Session.load('a', uuid, { storage }))
      if (error === null) break
      // A check reports a file that cannot be read as a finding.
      if (name === 'check' && error.findings)
        assert.deepEqual(
          error.findings.map(({ rule }) => rule),
          ['unreadable-file'],
        )
      else assert.equal(error.name, 'StorageError', `${name} ${failAt}: ${error}`)
      if (writes) {
        await session.save({ onConflict: 'fork' })
        assert.ok(textsOf((await Session.load('a', uuid, { storage })).activeContext).includes('ours'))
      }
    }
    assert.ok(failAt > 1, `${name} asks something of the storage`)
  }
})

test('a process saves on a signal, as the documentation shows', async (t) => {
  const directory = tempDir(t)
  const page = readFileSync(join(packageDir, 'docs', 'durability.md'), 'utf8')
  const shown = fencedBlocks(page).find(({ source }) => source.includes("process.once('SIGINT'")).source
  mkdirSync(join(directory, 'agents'))
  for (const signal of ['SIGINT', 'SIGTERM']) {
    const output = await runModule(`
      process.chdir(${JSON.stringify(directory)})
      process.on('exit', (code) => console.log(session.uuid, code))
      ${shown}
      session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'the last' }] })
      setTimeout(() => undefined, 60_000)
      process.kill(process.pid, '${signal}')
    `).catch((error) => error.message)
    const [, uuid, code] = /(\S+) (\d+)\n$/.exec(output)
    assert.equal(Number(code), signal === 'SIGINT' ? 130 : 143)
    assert.equal(textsOf((await Session.load(join(directory, 'agents'), uuid)).activeContext).at(-1), 'the last')
  }
})
