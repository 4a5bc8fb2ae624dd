// NodeFileStorage: locks and leftovers of killed processes, ended threads and holders elsewhere.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { tempDir } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'
import {
  age,
  endedHolder,
  HOLD,
  holderText,
  livingHolder,
  lockFile,
  lockText,
  newToken,
  ownLock,
  writeLock,
} from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'

const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)

test('a directory that a killed writer created, with nothing but leftovers in it, is removed with them', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage({ root: directory })
  const { place } = await ownLock(new NodeFileStorage(), join(directory, 'd'))
  mkdirSync(join(directory, 'd'))
  const ended = await endedHolder(place)
  writeLock(join(directory, 'd'), ended)
  writeFileSync(join(directory, 'd', `.session.json.${holderText(ended)}.x.tmp`), '')
  await storage.lock('d', async () => undefined)
  assert.deepEqual(readdirSync(directory), [])
})

test('locks of ended holders are taken over at the first attempt, others are not', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 0 })
  const own = await ownLock(storage, tempDir(t))
  const { place } = own
  const elsewhere = { pid: 1, place: 'elsewhere', host: 'other', thread: 1, started: 1 }
  const living = livingHolder(place)
  const cases = [
    ['of another machine, just touched', elsewhere, 0, /process 1 on other.*remove .*\.lock if/],
    ['of another machine, not touched for 8 s', elsewhere, 8, /process 1 on other/],
    ['of another machine, not touched for 11 s', elsewhere, 11, null],
    ['of another machine, dated in an hour', elsewhere, -3600, /process 1 on other.*remove .*\.lock if/],
    ['of an ended process of this machine', await endedHolder(place), 0, null],
    ['of an ended process of this machine, dated in an hour', await endedHolder(place), -3600, null],
    ['of a process of this machine that lives', living, 0, /process \d+ on/],
    ['of a process of this machine that lives, and has blocked its loop for an hour', living, 3600, /process \d+ on/],
    ['of an earlier process with the id of one that lives', { ...living, started: living.started - 1 }, 0, null],
    ['of a thread that has ended of a process that lives', { ...living, thread: 2 ** 22 }, 0, null],
    ['of another copy of this package in this thread', { ...own, token: newToken() }, 3600, /another thread or copy/],
    ['of an earlier process with this id', { ...own, token: newToken(), started: own.started - 1 }, 0, null],
    ['of this copy, which does not hold it any more', own, 0, null],
    ['unreadable, just made', '', 0, /an unknown writer.*remove .*\.lock if/],
    ['unreadable, 21 s old', '{"pid"', 21, null],
    [
      'of an older version, just made',
      JSON.stringify({ pid: 1, place: 'x', token: newToken() }),
      0,
      /an unknown writer/,
    ],
  ]
  for (const sync of [false, true]) {
    for (const [about, content, seconds, holder] of cases) {
      const directory = tempDir(t)
      writeLock(directory, content)
      age(lockFile(directory), seconds)
      const take = async () =>
        sync ? storage.lockSync(directory, () => 'had') : storage.lock(directory, async () => 'had')
      if (holder === null) {
        assert.equal(await take(), 'had', about)
        assert.equal(existsSync(lockFile(directory)), false, about)
      } else {
        await assert.rejects(take(), (error) => error.code === 'ELOCKED' && holder.test(error.message), about)
        assert.deepEqual(readdirSync(directory), ['.lock'], about)
      }
    }
  }
})

test('a lock dated in the future, of a holder elsewhere, is taken over if nobody touches it for a watch', async (t) => {
  // The monotonic clock runs fifty times as fast, so that a watch takes 0.2 s.
  const ask = script(
    t,
    `
    import { performance } from 'node:perf_hooks'
    const now = performance.now.bind(performance)
    performance.now = () => 50 * now()
    const { NodeFileStorage } = await import('peteos-session/node')
    const storage = new NodeFileStorage({ lockTimeout: 30_000 })
    await storage.lock(process.argv[2], async () => 'had').then(console.log, (error) => console.log(error.message))
  `,
  )
  const elsewhere = { pid: 1, place: 'elsewhere', host: 'other', thread: 1, started: 1 }
  for (const isTouched of [false, true]) {
    const directory = tempDir(t)
    writeLock(directory, elsewhere)
    age(lockFile(directory), -3600)
    let seconds = 3600
    const touching = setInterval(() => isTouched && age(lockFile(directory), -(seconds += 1)), 20)
    const asking = start(ask, directory)
    await asking.ended
    clearInterval(touching)
    if (isTouched) assert.match(asking.lines[0], /process 1 on other.*remove .*\.lock if it has ended/)
    else assert.equal(asking.lines[0], 'had')
    assert.equal(existsSync(lockFile(directory)), isTouched)
  }
})

test('an abandoned lock is removed even if earlier removers were killed', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 0 })
  const directory = tempDir(t)
  const { place } = await ownLock(storage, directory)
  const ended = await endedHolder(place)
  const [stale, remover, second] = [newToken(), newToken(), newToken()]
  const write = (name, holder) => writeFileSync(join(directory, name), lockText(holder))
  write('.lock', { ...ended, token: stale })
  write(`.lock.${stale}.takeover`, { ...ended, token: remover })
  write(`.lock.${remover}.takeover`, { ...ended, token: second })
  assert.equal(await storage.lock(directory, async () => 'had'), 'had')
  assert.equal(existsSync(directory), false, 'it held nothing else')
  mkdirSync(directory)
  // A living remover may finish.
  write('.lock', { ...ended, token: stale })
  write(`.lock.${stale}.takeover`, { ...livingHolder(place), token: remover })
  await assert.rejects(
    storage.lock(directory, async () => 'had'),
    { code: 'ELOCKED' },
  )
})

test('with processes that are killed while they hold the lock there is never a second holder, and no process waits forever', async (t) => {
  const directory = tempDir(t)
  writeFileSync(join(directory, 'counter'), '0')
  // Reading and writing the counter are two steps: with two holders an increment would be lost.
  const file = script(
    t,
    `
    import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
    import { NodeFileStorage } from 'peteos-session/node'
    const directory = process.argv[2]
    const storage = new NodeFileStorage()
    for (let round = 0; round < 12; round++) {
      await storage.lock(directory, async () => {
        const counter = Number(readFileSync(directory + '/counter', 'utf8'))
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
        writeFileSync(directory + '/counter', String(counter + 1))
        appendFileSync(directory + '/log', '.')
        if (Math.random() < 0.15) process.kill(process.pid, 'SIGKILL')
      })
    }
  `,
  )
  let killed = 0
  const lane = async () => {
    for (let child = 0; child < 4; child++) if ((await start(file, directory).ended) === 'SIGKILL') killed++
  }
  await Promise.all([1, 2, 3].map(lane))
  const counter = Number(readFileSync(join(directory, 'counter'), 'utf8'))
  assert.equal(counter, statSync(join(directory, 'log')).size)
  assert.ok(counter >= 12)
  await new NodeFileStorage().lock(directory, async () => undefined)
  assert.deepEqual(readdirSync(directory).sort(), ['counter', 'log'])
  t.diagnostic(`${counter} had the lock, and ${killed} of them were killed`)
})

test('the lock of a terminated worker thread is taken over at once, that of a living one is not', async (t) => {
  const directory = tempDir(t)
  const worker = new Worker(
    `
      const { parentPort, workerData } = require('node:worker_threads')
      const { NodeFileStorage } = require(workerData.package)
      new NodeFileStorage().lock(workerData.directory, () => {
        parentPort.postMessage('held')
        return new Promise(() => setInterval(() => undefined, 1000))
      })
    `,
    { eval: true, workerData: { directory, package: require.resolve('peteos-session/node') } },
  )
  await once(worker, 'message')
  const impatient = new NodeFileStorage({ lockTimeout: 0 })
  await assert.rejects(
    impatient.lock(directory, async () => assert.fail('it acquired the lock')),
    /another thread/,
  )
  await worker.terminate()
  assert.equal(await impatient.lock(directory, async () => 'had'), 'had')
})

test('the lock of a zombie process is taken over while this thread is blocked', async (t) => {
  const directory = tempDir(t)
  const holder = start(script(t, HOLD), directory)
  await holder.first
  holder.kill()
  // The process stays a zombie, because only the event loop notices its end.
  assert.equal(
    new NodeFileStorage().lockSync(directory, () => 'had'),
    'had',
  )
  await holder.ended
})

test("a holder whose lock was taken over does not remove its successor's, and writes nothing", async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const path = join(directory, 'x.json')
  writeFileSync(path, 'theirs')
  const successor = lockText({ place: 'elsewhere', pid: 1, thread: 1, started: 1 })
  for (const takeOver of [() => writeFileSync(lockFile(directory), successor), () => unlinkSync(lockFile(directory))]) {
    await storage.lock(directory, async (lease) => {
      assert.equal(lease.check(), undefined)
      await storage.write(path, bytes('theirs'), lease)
      takeOver()
      const isLost = (error) => error.code === 'ELOCKLOST' && error.message.includes(directory)
      assert.throws(() => lease.check(), isLost)
      await assert.rejects(storage.write(path, bytes('ours'), lease), isLost)
      assert.throws(() => storage.writeSync(path, bytes('ours'), lease), isLost)
    })
    assert.equal(readFileSync(path, 'utf8'), 'theirs')
    rmSync(lockFile(directory), { force: true })
  }
  await assert.rejects(
    storage.lock(directory, async (lease) => {
      const write = storage.write(path, bytes('ours'), lease)
      writeFileSync(lockFile(directory), successor)
      await write
    }),
    { code: 'ELOCKLOST' },
    'the lock is lost while the file is written',
  )
  assert.equal(readFileSync(path, 'utf8'), 'theirs')
  assert.equal(readFileSync(lockFile(directory), 'utf8'), successor)
  assert.deepEqual(readdirSync(directory).sort(), ['.lock', 'x.json'])
})

test('leftover temporary files of ended writers are removed by the next lock, others stay', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const { place } = await ownLock(storage, directory)
  const ended = holderText(await endedHolder(place))
  const living = livingHolder(place)
  const elsewhere = holderText({ ...living, place: 'elsewhere' })
  const names = {
    ended: `.session.json.${ended}.x.tmp`,
    'ended, of a lock': `..lock.${ended}.x.tmp`,
    'ended, though another process has the id now': `.a.json.${holderText({ ...living, started: living.started - 1 })}.x.tmp`,
    'elsewhere, older than a day': `.a.json.${elsewhere}.x.tmp`,
    alive: `.x.json.${holderText(living)}.x.tmp`,
    'elsewhere, 23 hours old': `.x.json.${elsewhere}.x.tmp`,
    'of an editor': '.x.json.swp',
    'of another program': '.x.json.5.tmp',
  }
  for (const name of Object.values(names)) writeFileSync(join(directory, name), '')
  age(join(directory, names['elsewhere, older than a day']), 25 * 3600)
  age(join(directory, names['elsewhere, 23 hours old']), 23 * 3600)
  age(join(directory, names.alive), 1000 * 3600)
  await storage.lock(directory, async () => undefined)
  const kept = [names.alive, names['elsewhere, 23 hours old'], names['of an editor'], names['of another program']]
  assert.deepEqual(readdirSync(directory).sort(), kept.sort())
})
