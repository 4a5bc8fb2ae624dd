// NodeFileStorage: files are replaced as a whole, and litter is removed.
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { Context, Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)
const content = (data) => data && new TextDecoder().decode(data)

test('import and require return the same class', () => {
  assert.equal(require('peteos-session/node').NodeFileStorage, NodeFileStorage)
})

test('files can be written, read, listed and removed', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const file = join(directory, 'a', 'b', 'c.json')
  assert.equal(await storage.read(file), null)
  assert.deepEqual(await storage.list(join(directory, 'a')), [])
  assert.equal(await storage.remove(file), undefined)
  assert.equal(await storage.write(file, bytes('one')), undefined)
  assert.ok((await storage.read(file)) instanceof Uint8Array)
  assert.equal(content(await storage.read(file)), 'one')
  await storage.write(file, bytes('2'))
  assert.equal(content(await storage.read(file)), '2')
  await storage.write(join(directory, 'a', 'é 日本.json'), bytes(''))
  assert.equal((await storage.read(join(directory, 'a', 'é 日本.json'))).length, 0)
  assert.deepEqual((await storage.list(join(directory, 'a'))).sort(), ['b', 'é 日本.json'].sort())
  assert.deepEqual(await storage.list(join(directory, 'a', 'b')), ['c.json'])
  await storage.remove(file)
  await storage.remove(file)
  assert.equal(await storage.read(file), null)
})

test('a path that is absent or below a file reads as null and lists as []', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  writeFileSync(join(directory, 'file'), 'x')
  for (const path of [join(directory, 'none'), join(directory, 'none', 'none'), join(directory, 'file', 'below')]) {
    assert.equal(await storage.read(path), null)
    assert.deepEqual(await storage.list(path), [])
    assert.equal(await storage.modifiedTime(path), null)
    assert.equal(await storage.remove(path), undefined)
  }
  assert.deepEqual(await storage.list(join(directory, 'file')), [])
})

test('other failures are errors with their code, and leave no litter', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  mkdirSync(join(directory, 'dir', 'full'), { recursive: true })
  writeFileSync(join(directory, 'dir', 'full', 'x'), '')
  writeFileSync(join(directory, 'file'), 'x')
  await assert.rejects(storage.read(join(directory, 'dir')), { code: 'EISDIR' })
  await assert.rejects(storage.write(join(directory, 'dir', 'full'), bytes('x')), (error) =>
    ['EISDIR', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code),
  )
  await assert.rejects(storage.write(join(directory, 'file', 'below'), bytes('x')), (error) =>
    ['EEXIST', 'ENOTDIR'].includes(error.code),
  )
  await assert.rejects(storage.write(join(directory, 'x'.repeat(300)), bytes('x')), { code: 'ENAMETOOLONG' })
  await assert.rejects(storage.remove(join(directory, 'dir')), (error) => ['EISDIR', 'EPERM'].includes(error.code))
  await assert.rejects(storage.read(`${directory}/a\0b`))
  assert.deepEqual(textsUnder(directory), { 'dir/full/x': '', file: 'x' })
})

test('a save over a directory is a StorageError, leaves no litter, and the next save succeeds', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  session.activeContext.append(text('x'))
  const path = join(session.sessionDir, 'session.json')
  mkdirSync(join(path, 'below'), { recursive: true })
  const error = await refused(() => session.save(), 'StorageError', { operation: 'write', path })
  assert.equal(error.code, error.cause.code)
  // Every file is compared before the first is written.
  assert.deepEqual(readdirSync(session.sessionDir), ['session.json'])
  rmSync(path, { recursive: true })
  await session.save()
  assert.deepEqual((await Session.load(directory, session.uuid)).activeContext.rawDict, session.activeContext.rawDict)
  assert.deepEqual(readdirSync(session.sessionDir).sort(), [`${session.activeContextId}.json`, 'session.json'].sort())
})

test('a file is replaced, not overwritten: a reader that has it open still reads the old one', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const file = join(directory, 'x.json')
  await storage.write(file, bytes('old'))
  const { ino } = statSync(file)
  const { open } = await import('node:fs/promises')
  const handle = await open(file)
  await storage.write(file, bytes('new and longer'))
  assert.notEqual(statSync(file).ino, ino)
  assert.equal((await handle.readFile()).toString(), 'old')
  await handle.close()
  assert.equal(readFileSync(file, 'utf8'), 'new and longer')
})

test('while a file is written repeatedly, a reader always finds it complete', async (t) => {
  const file = join(tempDir(t), 'x.json')
  const storage = new NodeFileStorage()
  const version = (letter) => letter.repeat(200_000)
  await storage.write(file, bytes(version('a')))
  let done = false
  const writes = (async () => {
    for (let round = 0; round < 15; round++) await storage.write(file, bytes(version('abcde'[round % 5])))
    done = true
  })()
  let reads = 0
  while (!done) {
    const found = readFileSync(file, 'utf8')
    assert.equal(found, version(found[0]))
    reads++
    await new Promise((resolve) => setImmediate(resolve))
  }
  await writes
  assert.ok(reads > 1)
})

test('concurrent writes of a file leave one of them complete, and no litter', async (t) => {
  const directory = tempDir(t)
  const storage = new NodeFileStorage()
  const versions = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000 + index))
  await Promise.all(versions.map((version) => storage.write(join(directory, 'sub', 'x.json'), bytes(version))))
  assert.deepEqual(readdirSync(join(directory, 'sub')), ['x.json'])
  assert.ok(versions.includes(readFileSync(join(directory, 'sub', 'x.json'), 'utf8')))
})

test('during a write the temporary file is beside the target, with a name that lists ignore', async (t) => {
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const steps = []
    const real = { renameSync: fs.renameSync, fsync: fs.fsync }
    fs.fsync = (file, done) => {
      steps.push(['sync', fs.readlinkSync('/proc/self/fd/' + file)])
      real.fsync(file, done)
    }
    fs.renameSync = (from, to) => {
      steps.push(['rename', from, to, fs.readFileSync(from, 'utf8'), fs.existsSync(to)])
      real.renameSync(from, to)
    }
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    await new NodeFileStorage().write(${JSON.stringify(join(tempDir(t), 'new', 'x.json'))}, new TextEncoder().encode('content'))
    console.log(JSON.stringify(steps))
  `)
  const steps = JSON.parse(output)
  const rename = steps.findIndex(([step]) => step === 'rename')
  const [, from, to, written, existed] = steps[rename]
  assert.equal(written, 'content', 'complete before it is renamed')
  assert.equal(existed, false)
  const directory = to.slice(0, to.lastIndexOf('/'))
  assert.equal(from.slice(0, from.lastIndexOf('/')), directory)
  assert.match(from.slice(directory.length + 1), /^\..*\.tmp$/)
  assert.deepEqual(steps[rename - 1], ['sync', from], 'synced before it is renamed')
  assert.deepEqual(steps[rename + 1], ['sync', directory], 'the directory is synced after it')
})

test('a write that fails at any step leaves the old file and no litter', async (t) => {
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    let failing
    const failure = (step) => Object.assign(new Error(step), { code: 'ENOSPC' })
    const fail = (step) => { if (step === failing) throw failure(step) }
    const { mkdirSync, renameSync } = fs
    fs.mkdirSync = (...args) => (fail('mkdir'), mkdirSync(...args))
    fs.renameSync = (...args) => (fail('rename'), renameSync(...args))
    for (const step of ['open', 'writeFile', 'fsync']) {
      const work = fs[step]
      fs[step] = (first, ...rest) => {
        if (failing === 'half' && step === 'writeFile') fs.writeSync(first, 'ha')
        // Reads open files too.
        const fails = step === 'open' ? String(first).endsWith('.tmp') && failing === step : failing === step || (failing === 'half' && step === 'writeFile')
        if (fails) rest.at(-1)(failure(failing))
        else work(first, ...rest)
      }
    }
    syncBuiltinESMExports()
    const { Session } = await import('peteos-session')
    const directory = ${JSON.stringify(tempDir(t))}
    const session = Session.create(directory)
    await session.save()
    const files = () => Object.fromEntries(fs.readdirSync(session.sessionDir).sort().map((name) => [name, fs.readFileSync(session.sessionDir + '/' + name, 'utf8')]))
    const results = {}
    for (failing of ['mkdir', 'open', 'writeFile', 'half', 'fsync', 'rename']) {
      const before = JSON.stringify(files())
      session.activeContext.append({ role: 'user' })
      const error = await session.save().catch((error) => error)
      results[failing] = [error?.name, error?.code, error?.cause?.message, JSON.stringify(files()) === before]
    }
    failing = undefined
    await session.save()
    const again = await Session.load(directory, session.uuid)
    console.log(JSON.stringify({ results, same: JSON.stringify(again.activeContext) === JSON.stringify(session.activeContext), count: Object.keys(files()).length }))
  `)
  const { results, same, count } = JSON.parse(output)
  for (const [step, result] of Object.entries(results))
    assert.deepEqual(result, ['StorageError', 'ENOSPC', step, true], step)
  assert.ok(same)
  assert.equal(count, 2)
})

for (const mode of [0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o400]) {
  test(`a replaced file keeps its permissions: ${mode.toString(8)}`, async (t) => {
    const file = join(tempDir(t), 'x.json')
    writeFileSync(file, 'old')
    chmodSync(file, mode)
    await new NodeFileStorage().write(file, bytes('new'))
    assert.equal(statSync(file).mode & 0o777, mode)
    assert.equal(readFileSync(file, 'utf8'), 'new')
  })
}

test('a directory that is a link is followed, and a session in it works', async (t) => {
  const directory = tempDir(t)
  mkdirSync(join(directory, 'real'))
  symlinkSync('real', join(directory, 'link'))
  const session = Session.create(join(directory, 'link'))
  await session.save()
  assert.ok(existsSync(join(directory, 'real', session.uuid, 'session.json')))
  assert.ok(await Session.load(join(directory, 'real'), session.uuid))
})

test('a temporary file of a killed process is neither a context nor a session', async (t) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const { id } = session.activeContext
  writeFileSync(join(session.sessionDir, `.${id}.json.123.abc.tmp`), '{"to')
  writeFileSync(join(session.sessionDir, '.session.json.123.abc.tmp'), '')
  const again = await Session.load(directory, session.uuid)
  assert.deepEqual(await again.listContexts(), [id])
  assert.equal((await Session.list(directory)).length, 1)
  again.setActiveContext(Context.create())
  await again.save()
  assert.equal((await again.listContexts()).length, 2)
})

test('ids of the greatest length are valid file names', async (t) => {
  const directory = tempDir(t)
  const id = 'x'.repeat(200)
  const session = Session.create(directory)
  session.setActiveContext(Context.fromDict({ id }))
  await session.save()
  assert.equal((await Session.load(directory, session.uuid)).activeContextId, id)
})

test('a killed process leaves an intact session', async (t) => {
  const directory = tempDir(t)
  const { spawn } = await import('node:child_process')
  const { folder } = await import('../support/installed.mjs')
  const script = join(folder, `.kill-${process.pid}.mjs`)
  writeFileSync(
    script,
    `
    import { Session } from 'peteos-session'
    const session = Session.create(${JSON.stringify(directory)})
    await session.save()
    console.log(session.uuid)
    for (let round = 0; ; round++) {
      session.activeContext.append({ role: 'user', content: [{ type: 'text', text: String(round).repeat(2000) }] })
      if (round % 3 === 0) session.rollingSequenceWindow(5)
      await session.save()
      console.log(round)
    }
  `,
  )
  t.after(() => rmSync(script, { force: true }))
  for (const rounds of [1, 4, 9]) {
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    const saved = () => output.trimEnd().split('\n').length - 2
    await new Promise((resolve) =>
      child.stdout.on('data', (data) => {
        output += data
        if (saved() >= rounds) resolve()
      }),
    )
    child.kill('SIGKILL')
    await new Promise((resolve) => child.on('close', resolve))
    const uuid = output.slice(0, output.indexOf('\n'))
    const last = Number(
      output
        .trimEnd()
        .split('\n')
        .filter((line) => /^\d{1,6}$/.test(line))
        .at(-1),
    )
    const session = await Session.load(directory, uuid)
    const newest = Math.max(
      ...session.activeContext.messages.map((message) =>
        Number(message.content[0].text.slice(0, message.content[0].text.length / 2000)),
      ),
    )
    assert.ok(newest >= last, `saved ${last}, found ${newest}`)
    for (const id of await session.listContexts()) await session.loadContext(id)
  }
})
