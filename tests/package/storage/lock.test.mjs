// NodeFileStorage: locks and their holders.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'
import { age, HOLD, lockFile, ownLock } from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)

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
    age(lockFile(directory), 9)
    while (Date.now() - statSync(lockFile(directory)).mtimeMs > 5_000)
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
    age(lockFile(directory), 11)
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
