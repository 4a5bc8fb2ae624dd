// NodeFileStorage: locks, their holders, and the leftovers of killed processes.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'
import { age, holderOf, holderText, lockFile, lockText, newToken, ownLock, writeLock } from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)

/** Holds the lock of the directory that the script is given, until it is killed. */
const HOLD = `
  await new (await import('peteos-session/node')).NodeFileStorage().lock(process.argv[2], () => {
    console.log(process.pid)
    return new Promise((resolve) => setTimeout(resolve, 60_000))
  })
`

/** An ended process as the holder of a lock. */
async function endedHolder(place) {
  const pid = Number(await runModule('console.log(process.pid)'))
  return { place, pid, thread: pid, started: 1 }
}

/** The process that started this one, which lives. */
const livingHolder = (place) => holderOf(process.ppid, place)

test('the lock is a hidden file in the directory that names its holder and is removed afterwards', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const lock = await ownLock(storage, directory)
  assert.equal(lock.pid, process.pid)
  assert.equal(lock.host, hostname())
  assert.ok(lock.place.length > 0)
  assert.notEqual((await ownLock(storage, directory)).token, lock.token)
  assert.deepEqual(readdirSync(directory), [])
})

test('directories that a lock created are removed with it, unless they hold something', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage({ root: directory })
  await storage.lock('a/b/c', async () => assert.ok(existsSync(lockFile(join(directory, 'a/b/c')))))
  storage.lockSync('a/b', () => undefined)
  assert.deepEqual(readdirSync(directory), [])
  await storage.lock('a/b/c', () => storage.write('a/x', bytes('x')))
  assert.deepEqual(readdirSync(join(directory, 'a')), ['x'])
  mkdirSync(join(directory, 'mine'))
  await storage.lock('mine', async () => undefined)
  assert.ok(existsSync(join(directory, 'mine')), 'it existed before')
})

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

test('a locked session can be listed and loaded, and the lock is not one of its contexts', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  await session.storage.lock(session.sessionDir, async () => {
    assert.ok(existsSync(lockFile(session.sessionDir)))
    const again = await Session.load(directory, session.uuid)
    assert.deepEqual(await again.listContexts(), [session.activeContextId])
    assert.equal((await Session.list(directory)).length, 1)
  })
})

test('callers in one process get the lock in order of arrival, whatever adapter and path they use', async (t) => {
  const directory = tempDir(t)
  mkdirSync(join(directory, 'd'))
  const storages = [new NodeFileStorage(), new NodeFileStorage({ root: directory }), new NodeFileStorage({ root: '/' })]
  const paths = [join(directory, 'd'), 'd', join(directory, 'x', '..', 'd')]
  const order = []
  await Promise.all(
    Array.from({ length: 12 }, (_, index) => storages[index % 3].lock(paths[index % 3], async () => order.push(index))),
  )
  assert.deepEqual(order, [...Array(12).keys()])
})

test('a caller that waits too long gets ELOCKED with the holder, and the callers behind it keep waiting', async (t) => {
  const directory = tempDir(t)
  let release
  const held = new NodeFileStorage().lock(directory, () => new Promise((resolve) => (release = resolve)))
  const impatient = new NodeFileStorage({ lockTimeout: 30 }).lock(directory, async () =>
    assert.fail('it acquired the lock'),
  )
  const patient = new NodeFileStorage().lock(directory, async () => existsSync(lockFile(directory)))
  await assert.rejects(
    impatient,
    (error) => error.code === 'ELOCKED' && error.path === directory && error.message.includes(directory),
  )
  assert.equal(await Promise.race([patient, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]), 'waits')
  release('done')
  assert.equal(await held, 'done')
  assert.equal(await patient, true)
})

test('the error names the process that holds the lock, and its lock is not touched', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory, { storage: new NodeFileStorage({ lockTimeout: 100 }) })
  await session.save()
  const holder = start(
    script(
      t,
      `
    import { NodeFileStorage } from 'peteos-session/node'
    await new NodeFileStorage().lock(process.argv[2], async () => {
      console.log(process.pid)
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    })
  `,
    ),
    session.sessionDir,
  )
  await holder.first
  const lock = readFileSync(lockFile(session.sessionDir), 'utf8')
  session.isActive = true
  const error = await refused(() => session.save(), 'StorageError', {
    operation: 'lock',
    path: session.sessionDir,
    code: 'ELOCKED',
  })
  assert.match(error.message, new RegExp(`locked by process ${holder.lines[0]} on `))
  assert.equal(readFileSync(lockFile(session.sessionDir), 'utf8'), lock)
  holder.kill()
  await holder.ended
  assert.ok(existsSync(lockFile(session.sessionDir)), 'a killed holder leaves its lock')
  await session.save()
  assert.equal((await Session.load(directory, session.uuid)).isActive, true)
  assert.deepEqual(
    readdirSync(session.sessionDir).filter((name) => name.startsWith('.')),
    [],
  )
})

test('locks of ended holders are taken over at the first attempt, others are not', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 0 })
  const own = await ownLock(storage, tempDir(t))
  const { place } = own
  const elsewhere = { pid: 1, place: 'elsewhere', host: 'other', thread: 1, started: 1 }
  const living = livingHolder(place)
  const cases = [
    ['of another machine, just touched', elsewhere, 0, /process 1 on other.*remove .*\.lock if/],
    ['of another machine, not touched for 15 s', elsewhere, 15, /process 1 on other/],
    ['of another machine, not touched for 21 s', elsewhere, 21, null],
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

test('the error names a directory in place of the lock', async (t) => {
  const storage = new NodeFileStorage({ root: tempDir(t) })
  const make = {
    'a directory': (path) => mkdirSync(path),
    'a symbolic link': (path) => symlinkSync('nowhere', path),
    'a FIFO': (path) => execFileSync('mkfifo', [path]),
  }
  for (const [kind, place] of Object.entries(make)) {
    const directory = tempDir(t)
    place(lockFile(directory))
    const isClear = (error) =>
      error.code === 'ELOCKED' &&
      error.message === `${lockFile(directory)} is ${kind}, not a lock file: remove it, then try again`
    await assert.rejects(
      new NodeFileStorage().lock(directory, () => assert.fail('it acquired the lock')),
      isClear,
    )
    assert.throws(() => new NodeFileStorage().lockSync(directory, () => assert.fail('it acquired the lock')), isClear)
  }
  assert.equal(await storage.lock('fine', async () => 'had'), 'had')
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

test('threads of one process, with a clock that was set back, take turns, and none removes the files of another', async (t) => {
  const directory = tempDir(t)
  writeFileSync(join(directory, 'counter'), '0')
  // Reading and writing the counter are two steps: with two holders an increment would be lost.
  const source = `
    const { readFileSync } = require('node:fs')
    const { workerData } = require('node:worker_threads')
    const RealDate = Date
    globalThis.Date = class extends RealDate {
      static now() { return RealDate.now() - 60_000 }
    }
    const { NodeFileStorage } = require(workerData.package)
    const storage = new NodeFileStorage({ root: workerData.directory })
    const increment = (counter) => new TextEncoder().encode(String(Number(counter) + 1))
    const run = async () => {
      for (let round = 0; round < 20; round++) {
        await storage.lock('.', async (lease) => storage.write('counter', increment(Buffer.from(await storage.read('counter'))), lease))
        storage.lockSync('.', (lease) => storage.writeSync('counter', increment(Buffer.from(storage.readSync('counter'))), lease))
      }
    }
    run()
  `
  const workerData = { directory, package: require.resolve('peteos-session/node') }
  const workers = Array.from({ length: 4 }, () => new Worker(source, { eval: true, workerData }))
  const ends = await Promise.all(workers.map((worker) => once(worker, 'exit')))
  assert.deepEqual(ends, [[0], [0], [0], [0]])
  assert.equal(readFileSync(join(directory, 'counter'), 'utf8'), '160')
  assert.deepEqual(readdirSync(directory), ['counter'])
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

test('a lock is touched and judged by the clock of the file system, not by that of the host', async (t) => {
  const directory = tempDir(t)
  // Each runs as if on another host with a wrong clock; its timers are fast, so that it touches its lock soon.
  const skewed = (minutes, work) => `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    import timers from 'node:timers'
    const { readlinkSync } = fs
    fs.readlinkSync = (path) => (path === '/proc/self/ns/pid' ? 'pid:[${1000 + minutes}]' : readlinkSync(path))
    const { setInterval } = timers
    timers.setInterval = (work) => setInterval(work, 20)
    syncBuiltinESMExports()
    const RealDate = Date
    globalThis.Date = class extends RealDate {
      constructor(...args) { super(...(args.length === 0 ? [Date.now()] : args)) }
      static now() { return RealDate.now() + ${minutes} * 60_000 }
    }
    const { NodeFileStorage } = await import('peteos-session/node')
    ${work}
  `
  for (const [mine, theirs] of [
    [-1, 1],
    [1, -1],
    [60, 0],
  ]) {
    const holder = start(script(t, skewed(mine, HOLD)), directory)
    await holder.first
    age(lockFile(directory), 19)
    while (Date.now() - statSync(lockFile(directory)).mtimeMs > 10_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const ask = `
      await new NodeFileStorage({ lockTimeout: 100 }).lock(${JSON.stringify(directory)}, async () => 'had')
        .then(console.log, (error) => console.log(error.code))
    `
    assert.equal(await runModule(skewed(theirs + 2, ask)), 'ELOCKED\n')
    holder.kill()
    await holder.ended
    assert.equal(
      await new NodeFileStorage({ lockTimeout: 0 }).lock(directory, async () => 'had').catch(({ code }) => code),
      'ELOCKED',
    )
    age(lockFile(directory), 21)
    assert.equal(await runModule(skewed(theirs + 2, ask)), 'had\n')
  }
})

test('a lock that could not be removed blocks nobody: in this thread at once, elsewhere as soon as it can be removed', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { openSync, unlinkSync } = fs
    let failing = false
    const fail = (path) => { if (failing && path.endsWith('.lock')) throw Object.assign(new Error('too many'), { code: 'EMFILE' }) }
    fs.openSync = (path, ...rest) => (fail(path), openSync(path, ...rest))
    fs.unlinkSync = (path) => (fail(path), unlinkSync(path))
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    const directory = ${JSON.stringify(directory)}
    const storage = new NodeFileStorage({ lockTimeout: 0 })
    const hold = () => storage.lock(directory, async () => { failing = true; return 'held' })
    const results = [await hold(), fs.readdirSync(directory).join()]
    failing = false
    results.push(await storage.lock(directory, async () => 'again'), await hold())
    failing = false
    while (fs.existsSync(directory + '/.lock')) await new Promise((resolve) => setTimeout(resolve, 1))
    console.log(results.join())
  `)
  assert.equal(output, 'held,.lock,again,held\n')
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

test('a lock file is copied if the file system has no links', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import fsPromises from 'node:fs/promises'
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    fsPromises.link = async () => { throw Object.assign(new Error('no links'), { code: 'EPERM' }) }
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    const directory = ${JSON.stringify(directory)}
    let holders = 0
    await Promise.all(Array.from({ length: 5 }, () => new NodeFileStorage().lock(directory, async () => {
      if (++holders !== 1 || !fs.existsSync(directory + '/.lock')) throw new Error('not alone')
      await new Promise((resolve) => setTimeout(resolve, 1))
      holders--
    })))
    const failure = await new NodeFileStorage({ lockTimeout: 20 }).lock(directory, () => {
      fs.writeFileSync(directory + '/.lock', '{}')
      return Promise.resolve()
    }).then(() => new NodeFileStorage({ lockTimeout: 20 }).lock(directory, async () => 'had')).catch((error) => error.code)
    console.log(failure, fs.readdirSync(directory).join())
  `)
  assert.equal(output, 'ELOCKED .lock\n')
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
