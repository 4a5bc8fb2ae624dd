// NodeFileStorage: locks and what killed processes leave of them, files that are busy, options, synchronous methods.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { script, start } from '../support/processes.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)
const lockFile = (directory) => join(directory, '.lock')
const token = () => crypto.randomUUID()

/** What a lock file of this process says. */
async function ownLock(storage, directory) {
  return storage.lock(directory, async () => JSON.parse(readFileSync(lockFile(directory), 'utf8')))
}

/** The id of a process that has ended. */
async function endedPid() {
  return Number(await runModule('console.log(process.pid)'))
}

function age(path, seconds) {
  const time = new Date(Date.now() - seconds * 1000)
  utimesSync(path, time, time)
}

test('the lock is a hidden file in the directory, which says who holds it and is gone afterwards', async (t) => {
  const directory = join(tempDir(t), 'new')
  const storage = new NodeFileStorage()
  const lock = await ownLock(storage, directory)
  assert.equal(lock.pid, process.pid)
  assert.ok(lock.place.length > 0)
  assert.match(lock.token, /^[0-9a-f-]{36}$/)
  assert.notEqual((await ownLock(storage, directory)).token, lock.token)
  assert.deepEqual(readdirSync(directory), [])
})

test('while a session is locked it is listed and loaded, and the lock is none of its contexts', async (t) => {
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

test('callers of one process have the lock in the order in which they came, whatever adapter and path they use', async (t) => {
  const directory = tempDir(t)
  mkdirSync(join(directory, 'd'))
  const storages = [new NodeFileStorage(), new NodeFileStorage({ root: directory }), new NodeFileStorage({ root: '/' })]
  const paths = [join(directory, 'd'), 'd', join(directory, 'x', '..', 'd')]
  const order = []
  await Promise.all(Array.from({ length: 12 }, (_, index) => storages[index % 3].lock(paths[index % 3], async () => order.push(index))))
  assert.deepEqual(order, [...Array(12).keys()])
})

test('who waits too long gets ELOCKED with the holder, and those behind go on waiting', async (t) => {
  const directory = tempDir(t)
  let release
  const held = new NodeFileStorage().lock(directory, () => new Promise((resolve) => (release = resolve)))
  const impatient = new NodeFileStorage({ lockTimeout: 30 }).lock(directory, async () => assert.fail('it had the lock'))
  const patient = new NodeFileStorage().lock(directory, async () => existsSync(lockFile(directory)))
  await assert.rejects(impatient, (error) => error.code === 'ELOCKED' && error.path === directory && error.message.includes(directory))
  assert.equal(await Promise.race([patient, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]), 'waits')
  release('done')
  assert.equal(await held, 'done')
  assert.equal(await patient, true)
})

test('another process that holds the lock is named, and its lock is not touched', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory, { storage: new NodeFileStorage({ lockTimeout: 100 }) })
  await session.save()
  const holder = start(script(t, `
    import { NodeFileStorage } from 'peteos-session/node'
    await new NodeFileStorage().lock(process.argv[2], async () => {
      console.log(process.pid)
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    })
  `), session.sessionDir)
  await holder.first
  const lock = readFileSync(lockFile(session.sessionDir), 'utf8')
  session.isActive = true
  const error = await refused(() => session.save(), 'StorageError', { operation: 'lock', path: session.sessionDir, code: 'ELOCKED' })
  assert.match(error.message, new RegExp(`locked by process ${holder.lines[0]} on `))
  assert.equal(readFileSync(lockFile(session.sessionDir), 'utf8'), lock)
  holder.kill()
  await holder.ended
  assert.ok(existsSync(lockFile(session.sessionDir)), 'a killed holder leaves its lock')
  await session.save()
  assert.equal((await Session.load(directory, session.uuid)).isActive, true)
  assert.deepEqual(readdirSync(session.sessionDir).filter((name) => name.startsWith('.')), [])
})

test('which locks are stale, and which are not', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 60 })
  const { place } = await ownLock(storage, tempDir(t))
  const elsewhere = { pid: 1, place: 'elsewhere', token: token() }
  const cases = [
    ['of another machine, just touched', elsewhere, 0, /process 1 on elsewhere/],
    ['of another machine, not touched for 15 s', elsewhere, 15, /process 1 on elsewhere/],
    ['of another machine, not touched for 21 s', elsewhere, 21, null],
    ['of an ended process of this machine', { pid: await endedPid(), place, token: token() }, 0, null],
    ['of a process of this machine that lives', { pid: process.ppid, place, token: token() }, 0, /process \d+ on/],
    ['of a process id of this machine that lives, not touched for 21 s', { pid: process.ppid, place, token: token() }, 21, null],
    ['of another thread of this process', { pid: process.pid, place, token: token() }, 0, /another thread/],
    ['of an earlier process with this id', { pid: process.pid, place, token: token() }, process.uptime() + 2, null],
    ['unreadable, just made', '', 0, /somebody else/],
    ['unreadable, 21 s old', '{"pid"', 21, null],
  ]
  for (const [about, content, seconds, holder] of cases) {
    const directory = tempDir(t)
    writeFileSync(lockFile(directory), typeof content === 'string' ? content : JSON.stringify(content))
    age(lockFile(directory), seconds)
    const locked = storage.lock(directory, async () => 'had')
    if (holder === null) {
      assert.equal(await locked, 'had', about)
      assert.deepEqual(readdirSync(directory), [], about)
    } else {
      await assert.rejects(locked, (error) => error.code === 'ELOCKED' && holder.test(error.message), about)
      assert.deepEqual(readdirSync(directory), ['.lock'], about)
    }
  }
})

test('a stale lock that killed processes were about to remove is removed all the same', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 100 })
  const directory = tempDir(t)
  const { place } = await ownLock(storage, directory)
  const pid = await endedPid()
  const [stale, remover, second] = [token(), token(), token()]
  const write = (name, holder) => writeFileSync(join(directory, name), JSON.stringify({ place, ...holder }))
  write('.lock', { pid, token: stale })
  write(`.lock.${stale}.takeover`, { pid, token: remover })
  write(`.lock.${remover}.takeover`, { pid, token: second })
  assert.equal(await storage.lock(directory, async () => 'had'), 'had')
  assert.deepEqual(readdirSync(directory), [])
  // One that is at it is left to it.
  write('.lock', { pid, token: stale })
  write(`.lock.${stale}.takeover`, { pid: process.ppid, token: remover })
  await assert.rejects(storage.lock(directory, async () => 'had'), { code: 'ELOCKED' })
})

test('processes that are killed while they hold the lock: there is never a second holder, and nobody waits for ever', async (t) => {
  const directory = tempDir(t)
  writeFileSync(join(directory, 'counter'), '0')
  // Reading and writing the counter are two steps: with two holders an increment would be lost.
  const file = script(t, `
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
  `)
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

test('a holder that was taken for dead does not remove the lock of its successor', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const successor = JSON.stringify({ pid: process.ppid, place: 'elsewhere', token: token() })
  await storage.lock(directory, async () => writeFileSync(lockFile(directory), successor))
  assert.equal(readFileSync(lockFile(directory), 'utf8'), successor)
})

test('where there are no links a lock file is copied', async (t) => {
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

test('leftover temporary files of ended processes are cleared by the next lock, others stay', async (t) => {
  const directory = tempDir(t)
  const pid = await endedPid()
  const names = {
    ended: `.session.json.${pid}.${token()}.tmp`,
    'ended, of a lock': `..lock.${pid}.${token()}.tmp`,
    'alive but older than an hour': `.x.json.${process.ppid}.${token()}.tmp`,
    alive: `.x.json.${process.ppid}.${token()}.tmp`,
    'of this process': `.x.json.${process.pid}.${token()}.tmp`,
    'of an editor': '.x.json.swp',
    'of another kind': `.x.json.${pid}.tmp`,
  }
  for (const name of Object.values(names)) writeFileSync(join(directory, name), '')
  age(join(directory, names['alive but older than an hour']), 3601)
  await new NodeFileStorage().lock(directory, async () => undefined)
  const kept = [names.alive, names['of this process'], names['of an editor'], names['of another kind']]
  assert.deepEqual(readdirSync(directory).sort(), kept.sort())
})

for (const sync of [false, true]) {
  const method = sync ? 'writeSync' : 'write'

  test(`${method}: a rename that is refused for a while is tried again, one that is refused for good is told`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import fsPromises from 'node:fs/promises'
      import { syncBuiltinESMExports } from 'node:module'
      const real = { rename: fsPromises.rename, renameSync: fs.renameSync }
      let failures, code, calls
      const fail = () => { calls++; if (failures-- > 0) throw Object.assign(new Error('busy'), { code }) }
      fsPromises.rename = async (...args) => (fail(), real.rename(...args))
      fs.renameSync = (...args) => (fail(), real.renameSync(...args))
      syncBuiltinESMExports()
      const { NodeFileStorage } = await import('peteos-session/node')
      const file = ${JSON.stringify(join(directory, 'x.json'))}
      const storage = new NodeFileStorage()
      const results = []
      for ([code, failures] of [['EPERM', 3], ['EACCES', 1], ['EBUSY', 2], ['EBUSY', 99], ['EIO', 99]]) {
        calls = 0
        const start = performance.now()
        const given = [code, failures]
        const work = async () => storage.${method}(file, new TextEncoder().encode(given.join()))
        const error = await work().catch((error) => error.code)
        results.push([error ?? null, calls, fs.readFileSync(file, 'utf8'), performance.now() - start > 1000])
      }
      console.log(JSON.stringify(results))
    `)
    assert.deepEqual(JSON.parse(output), [
      [null, 4, 'EPERM,3', false],
      [null, 2, 'EACCES,1', false],
      [null, 3, 'EBUSY,2', false],
      ['EBUSY', 9, 'EBUSY,2', true],
      ['EIO', 1, 'EBUSY,2', false],
    ])
    assert.deepEqual(readdirSync(directory), ['x.json'])
  })

  test(`${method}: what is synced, and what is not where power may fail`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import fsPromises from 'node:fs/promises'
      import { syncBuiltinESMExports } from 'node:module'
      let syncs = 0
      const { open } = fsPromises
      const { fsyncSync } = fs
      fsPromises.open = async (...args) => {
        const file = await open(...args)
        const sync = file.sync.bind(file)
        file.sync = () => (syncs++, sync())
        return file
      }
      fs.fsyncSync = (file) => (syncs++, fsyncSync(file))
      syncBuiltinESMExports()
      const { NodeFileStorage } = await import('peteos-session/node')
      const results = []
      for (const options of [{}, { durability: 'full' }, { durability: 'unsafe-on-power-loss' }]) {
        for (const name of ['a/b/x.json', 'a/b/x.json']) {
          syncs = 0
          await new NodeFileStorage({ root: ${JSON.stringify(directory)} + '/' + results.length, ...options }).${method}(name, new Uint8Array())
          results.push(syncs)
        }
      }
      console.log(results.join())
    `)
    // The file, its directory, and where directories are new those that hold them: the root, a and b.
    assert.equal(output, '5,5,5,5,0,0\n')
  })

  test(`${method}: the mode is that of files that are new`, async (t) => {
    const directory = tempDir(t)
    const storage = new NodeFileStorage({ root: directory, mode: 0o600 })
    await storage[method]('x', bytes('x'))
    assert.equal(statSync(join(directory, 'x')).mode & 0o777, 0o600)
    await new NodeFileStorage({ root: directory })[method]('x', bytes('y'))
    assert.equal(statSync(join(directory, 'x')).mode & 0o777, 0o600)
    await new NodeFileStorage({ root: directory })[method]('y', bytes('y'))
    assert.equal(statSync(join(directory, 'y')).mode & 0o777, 0o666 & ~process.umask())
  })
}

test('a writeSync that fails at any step leaves the old file and no litter', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    let failing
    for (const step of ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync']) {
      const work = fs[step]
      fs[step] = (...args) => {
        if (step === failing) throw Object.assign(new Error(step), { code: 'ENOSPC' })
        return work(...args)
      }
    }
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    const storage = new NodeFileStorage({ root: ${JSON.stringify(directory)} })
    storage.writeSync('x', new TextEncoder().encode('old'))
    for (failing of ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync']) {
      try {
        storage.writeSync('x', new TextEncoder().encode('new'))
      } catch (error) {
        console.log(error.code, error.message === failing, fs.readdirSync(${JSON.stringify(directory)}).join(), fs.readFileSync(${JSON.stringify(join(directory, 'x'))}, 'utf8'))
      }
    }
  `)
  assert.equal(output, 'ENOSPC true x old\n'.repeat(5))
})

test('the synchronous methods do what the others do, also while the process ends', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage({ root: directory })
  assert.equal(storage.readSync('a/x'), null)
  assert.equal(storage.digestSync('a/x'), null)
  storage.writeSync('a/x', bytes('one'))
  assert.equal(Buffer.from(storage.readSync('a/x')).toString(), 'one')
  assert.equal(storage.digestSync('a/x'), await storage.digest('a/x'))
  for (const call of [() => storage.readSync('../x'), () => storage.writeSync('../x', bytes('')), () => storage.digestSync('../x')]) {
    assert.throws(call, { code: 'EACCES' })
  }
  await runModule(`
    import { NodeFileStorage } from 'peteos-session/node'
    const storage = new NodeFileStorage({ root: ${JSON.stringify(directory)} })
    process.on('exit', () => storage.writeSync('a/x', new TextEncoder().encode('at the end')))
  `)
  assert.deepEqual(textsUnder(directory), { 'a/x': 'at the end' })
})

test('options that are not known, or of the wrong kind, are refused', () => {
  const wrong = { root: 5, mode: 0o1000, durability: 'none', lockTimeout: -1 }
  for (const [option, value] of Object.entries(wrong)) {
    refusedNow(() => new NodeFileStorage({ [option]: value }), 'InvalidArgumentError', { argument: `options.${option}` })
  }
  refusedNow(() => new NodeFileStorage({ fsync: false }), 'InvalidArgumentError', { argument: 'options.fsync' })
  for (const options of [undefined, {}, { mode: 0 }, { lockTimeout: 0 }]) new NodeFileStorage(options)
})
