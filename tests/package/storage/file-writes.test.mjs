// NodeFileStorage: how files are written and read, options, and the synchronous methods.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused, refusedNow } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { load } from '../support/installed.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)

for (const sync of [false, true]) {
  const method = sync ? 'writeSync' : 'write'

  test(`${method}: a rename that is refused for a while is retried, and one that is always refused is an error`, async (t) => {
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

  test(`${method}: files and directories are synced, unless durability is 'unsafe-on-power-loss'`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      let syncs = 0
      const { fsync, fsyncSync } = fs
      fs.fsync = (...args) => (syncs++, fsync(...args))
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
    // The file, its directory, and the parents of new directories: the root, a and b.
    assert.equal(output, '5,5,5,5,0,0\n')
  })

  test(`${method}: the mode applies to new files`, async (t) => {
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

test('the synchronous methods match the others, also while the process exits', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage({ root: directory })
  assert.equal(storage.readSync('a/x'), null)
  assert.equal(storage.digestSync('a/x'), null)
  storage.writeSync('a/x', bytes('one'))
  assert.equal(Buffer.from(storage.readSync('a/x')).toString(), 'one')
  assert.equal(storage.digestSync('a/x'), await storage.digest('a/x'))
  for (const call of [
    () => storage.readSync('../x'),
    () => storage.writeSync('../x', bytes('')),
    () => storage.digestSync('../x'),
  ]) {
    assert.throws(call, { code: 'EACCES' })
  }
  await runModule(`
    import { NodeFileStorage } from 'peteos-session/node'
    const storage = new NodeFileStorage({ root: ${JSON.stringify(directory)} })
    process.on('exit', () => storage.writeSync('a/x', new TextEncoder().encode('at the end')))
  `)
  assert.deepEqual(textsUnder(directory), { 'a/x': 'at the end' })
})

for (const sync of [false, true]) {
  const method = sync ? 'writeSync' : 'write'

  test(`${method}: root keeps the owner of a file, and modes are set only if they differ`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const calls = []
      // The request is recorded and refused, so the test does not depend on being root.
      for (const name of ['fchown', 'fchmod', 'fchownSync', 'fchmodSync']) {
        const work = fs[name]
        fs[name] = (file, ...args) => {
          calls.push([name, ...args.filter((arg) => typeof arg === 'number')])
          if (name === 'fchown') args.at(-1)(Object.assign(new Error('no'), { code: 'EPERM' }))
          else if (name === 'fchownSync') throw Object.assign(new Error('no'), { code: 'EPERM' })
          else work(file, ...args)
        }
      }
      const { lstat, lstatSync } = fs
      let owner = {}
      fs.lstat = (path, done) => lstat(path, (error, stats) => done(error, error ?? Object.assign(stats, owner)))
      fs.lstatSync = (path, ...rest) => Object.assign(lstatSync(path, ...rest), owner)
      syncBuiltinESMExports()
      const { NodeFileStorage } = await import('peteos-session/node')
      process.umask(0o022)
      const storage = new NodeFileStorage()
      const path = ${JSON.stringify(join(directory, 'x'))}
      const results = []
      for (const [mode, given] of [[0o644, {}], [0o664, {}], [0o644, { uid: 12345, gid: 54321 }]]) {
        owner = given
        fs.writeFileSync(path, 'old')
        fs.chmodSync(path, mode)
        calls.length = 0
        await storage.${method}(path, new TextEncoder().encode('new'))
        results.push([...calls, fs.statSync(path).mode & 0o777])
      }
      console.log(JSON.stringify(results))
    `)
    const end = sync ? 'Sync' : ''
    assert.deepEqual(JSON.parse(output), [
      [0o644],
      [[`fchmod${end}`, 0o664], 0o664],
      [[`fchown${end}`, 12345, 54321], 0o644],
    ])
  })

  test(`${method}: a write does not fail if the directory cannot be synced; any other failure is an error, and the new file stays`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const { fsync, fsyncSync } = fs
      let code
      const failure = (file) => (fs.fstatSync(file).isDirectory() ? Object.assign(new Error('no'), { code }) : null)
      fs.fsync = (file, done) => (failure(file) ? done(failure(file)) : fsync(file, done))
      fs.fsyncSync = (file) => { if (failure(file)) throw failure(file); fsyncSync(file) }
      syncBuiltinESMExports()
      const { NodeFileStorage } = await import('peteos-session/node')
      const path = ${JSON.stringify(join(directory, 'x'))}
      const write = async () => new NodeFileStorage().${method}(path, new TextEncoder().encode(code))
      const results = []
      for (code of ['EINVAL', 'EPERM', 'ENOTSUP', 'EISDIR', 'ENOSYS', 'EIO']) {
        results.push(await write().then(() => 'done', (error) => error.code), fs.readFileSync(path, 'utf8'))
      }
      console.log(results.join())
    `)
    assert.equal(output, 'done,EINVAL,done,EPERM,done,ENOTSUP,done,EISDIR,done,ENOSYS,EIO,EIO\n')
  })

  test(`${method}: an exceeded quota has the code EDQUOT, which Node cannot name`, async (t) => {
    const directory = tempDir(t)
    const output = await runModule(`
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      import { constants } from 'node:os'
      const errno = -constants.errno.EDQUOT
      const code = 'Unknown system error ' + errno
      const failure = () => Object.assign(new Error(code + ': ' + code + ', write'), { errno, code })
      fs.writeFile = (...args) => args.at(-1)(failure())
      fs.writeFileSync = () => { throw failure() }
      syncBuiltinESMExports()
      const { NodeFileStorage } = await import('peteos-session/node')
      const write = async () => new NodeFileStorage().${method}(${JSON.stringify(join(directory, 'x'))}, new Uint8Array(1))
      await write().catch((error) => console.log(error.code, error.message))
    `)
    assert.equal(output, 'EDQUOT EDQUOT: EDQUOT, write\n')
    assert.deepEqual(readdirSync(directory), [])
  })
}

test('writes work if FileHandle.sync is not implemented, as under Yarn', async (t) => {
  const directory = tempDir(t)
  await runModule(`
    import { open } from 'node:fs/promises'
    const handle = await open(process.argv[1])
    Object.getPrototypeOf(handle).sync = () => { throw new Error('not implemented') }
    await handle.close()
    const { Session } = await import('peteos-session')
    await Session.create(${JSON.stringify(directory)}).save()
  `)
  assert.equal((await Session.list(directory)).length, 1)
})

test('a FIFO, a socket or a device in place of a file is an error that names it, and nothing blocks', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const path = join(session.sessionDir, 'session.json')
  const text = readFileSync(path)
  const server = createServer()
  const kinds = {
    'a FIFO': () => execFileSync('mkfifo', [path]),
    'a socket or a device': () => new Promise((resolve) => server.listen(path, resolve)),
    'a device': () => symlinkSync('/dev/null', path),
  }
  for (const [kind, make] of Object.entries(kinds)) {
    unlinkSync(path)
    await make()
    const error = await refused(() => Session.load(directory, session.uuid), 'StorageError', {
      operation: 'read',
      path,
      code: 'EINVAL',
    })
    assert.ok(error.message.includes(`${path} is ${kind}, not a file`), error.message)
    assert.throws(() => new NodeFileStorage().digestSync(path), { code: 'EINVAL' })
  }
  server.close()
  rmSync(path, { force: true })
  writeFileSync(path, text)
  await Session.load(directory, session.uuid)
})

test('a short read is an error', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { readFile, readFileSync } = fs
    fs.readFile = (file, done) => readFile(file, (error, data) => done(error, data?.subarray(0, 5)))
    fs.readFileSync = (file, ...rest) => (typeof file === 'number' && rest.length === 0 ? readFileSync(file).subarray(0, 5) : readFileSync(file, ...rest))
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    const storage = new NodeFileStorage({ root: ${JSON.stringify(directory)} })
    await storage.write('x', new Uint8Array(6))
    await storage.write('y', new Uint8Array(5))
    for (const work of [() => storage.read('x'), () => storage.readSync('x'), () => storage.digest('x'), () => storage.read('y')]) {
      console.log(await new Promise((resolve) => resolve(work())).then((data) => data.length, (error) => error.code))
    }
  `)
  assert.equal(output, 'EIO\nEIO\nEIO\n5\n')
})

test('timers and clocks that a test framework replaced are not used', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import { NodeFileStorage } from 'peteos-session/node'
    // A browser-like clock that stands still, like Jest's for jsdom.
    const never = () => 1
    Object.assign(globalThis, { setTimeout: never, clearTimeout: never, setInterval: never, clearInterval: never, setImmediate: never })
    performance.now = never
    Date.now = never
    const storage = new NodeFileStorage({ lockTimeout: 100 })
    let release
    const held = storage.lock(${JSON.stringify(directory)}, () => new Promise((resolve) => (release = resolve)))
    const refused = await storage.lock(${JSON.stringify(directory)}, async () => 'had').catch((error) => error.code)
    release('held')
    console.log(refused, await held, await storage.lock(${JSON.stringify(directory)}, async () => 'had'))
  `)
  assert.equal(output, 'ELOCKED held had\n')
})

test('unknown options and invalid values are refused', () => {
  const wrong = { root: 5, followLinks: 'yes', mode: 0o1000, durability: 'none', lockTimeout: -1 }
  for (const [option, value] of Object.entries(wrong)) {
    refusedNow(() => new NodeFileStorage({ [option]: value }), 'InvalidArgumentError', {
      argument: `options.${option}`,
    })
  }
  refusedNow(() => new NodeFileStorage({ fsync: false }), 'InvalidArgumentError', { argument: 'options.fsync' })
  for (const options of [undefined, {}, { mode: 0 }, { lockTimeout: 0 }]) new NodeFileStorage(options)
})

if (process.platform === 'linux') {
  test('a directory that takes no directories is refused at once', async () => {
    // Node's recursive mkdir never returns there.
    const output = await runModule(
      `import { Session } from 'peteos-session'
      const codes = []
      await Session.create('/proc/none').save().catch((error) => codes.push(error.name, error.code))
      try {
        Session.create('/proc/none/deeper').saveSync()
      } catch (error) {
        codes.push(error.name, error.code)
      }
      console.log(codes.join())`,
      { timeoutSeconds: 20 },
    )
    assert.equal(output.trim(), 'StorageError,ENOENT,StorageError,ENOENT')
  })
}
