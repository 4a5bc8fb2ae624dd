// NodeFileStorage with the option root: paths are confined to a directory.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { runModule, tempDir, textsUnder } from '../support/files.mjs'
import { load } from '../support/installed.mjs'

const { Session } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)
const content = (data) => data && new TextDecoder().decode(data)

test('paths are relative to the root, and none leads out of it', async (t) => {
  const directory = tempDir(t)
  const root = join(directory, 'root')
  mkdirSync(root)
  writeFileSync(join(directory, 'secret'), 'secret')
  mkdirSync(join(directory, 'root-twin'))
  const storage = new NodeFileStorage({ root })
  await storage.write('a/b.json', bytes('x'))
  assert.equal(readFileSync(join(root, 'a', 'b.json'), 'utf8'), 'x')
  assert.equal(content(await storage.read('a/../a/./b.json')), 'x')
  assert.deepEqual(await storage.list('a'), ['b.json'])
  assert.deepEqual(await storage.list('.'), ['a'])
  await storage.write('..fine', bytes('x'))
  await storage.write('a/..x/y', bytes('x'))
  assert.equal(content(await storage.read('..fine')), 'x')
  const outside = [
    '..',
    '../secret',
    'a/../../secret',
    '/etc/hostname',
    join(directory, 'secret'),
    '../root-twin/x',
    'a/../..',
    './../secret',
  ]
  for (const path of outside) {
    for (const call of [
      () => storage.read(path),
      () => storage.write(path, bytes('x')),
      () => storage.list(path),
      () => storage.remove(path),
      () => storage.modifiedTime(path),
    ]) {
      await assert.rejects(call, (error) => typeof error.code === 'string' && error.message.includes(path), path)
    }
  }
  assert.equal(readFileSync(join(directory, 'secret'), 'utf8'), 'secret')
  assert.deepEqual(readdirSync(join(directory, 'root-twin')), [])
  // An absolute path into the root is allowed.
  assert.equal(content(await storage.read(join(root, 'a', 'b.json'))), 'x')
})

test('symbolic links do not lead out of the root unless followLinks is set', async (t) => {
  const directory = tempDir(t)
  const root = join(directory, 'root')
  for (const name of ['root/inner', 'outer/d']) mkdirSync(join(directory, name), { recursive: true })
  writeFileSync(join(directory, 'outer', 'secret'), 'secret')
  symlinkSync('../outer', join(root, 'out'))
  symlinkSync('../outer/secret', join(root, 'file'))
  symlinkSync('inner', join(root, 'in'))
  symlinkSync(root, join(directory, 'link'))
  const storage = new NodeFileStorage({ root: join(directory, 'link') })
  const refusals = {
    read: ['out/secret', 'file', 'out/none'],
    digest: ['file'],
    modifiedTime: ['file'],
    list: ['out', 'out/d'],
    write: ['out/secret', 'out/new', 'out/d/e/new'],
    remove: ['out/secret'],
    lock: ['out', 'out/new'],
    lockSync: ['out'],
    readSync: ['file'],
    writeSync: ['out/new'],
  }
  const argument = { write: bytes('x'), writeSync: bytes('x'), lock: async () => 'had', lockSync: () => 'had' }
  for (const [method, paths] of Object.entries(refusals)) {
    for (const path of paths) {
      const isClear = (error) =>
        error.code === 'EACCES' && error.message.includes(path) && error.message.includes('followLinks')
      await assert.rejects(async () => storage[method](path, argument[method]), isClear, `${method} ${path}`)
    }
  }
  assert.deepEqual(textsUnder(join(directory, 'outer')), { secret: 'secret' })
  // Links within the root are followed; replacing or removing one leaves its target alone.
  await storage.write('in/x', bytes('x'))
  assert.equal(readFileSync(join(root, 'inner', 'x'), 'utf8'), 'x')
  await storage.write('file', bytes('ours'))
  assert.equal(readFileSync(join(root, 'file'), 'utf8'), 'ours')
  const following = new NodeFileStorage({ root, followLinks: true })
  assert.equal(content(await following.read('out/secret')), 'secret')
  await storage.remove('out')
  assert.deepEqual(textsUnder(join(directory, 'outer')), { secret: 'secret' })
})

test('a path of a session that leads out of the root is a StorageError', async (t) => {
  const root = join(tempDir(t), 'root')
  const storage = new NodeFileStorage({ root })
  const session = Session.create('agents', { storage })
  await session.save()
  assert.ok(existsSync(join(root, 'agents', session.uuid, 'session.json')))
  assert.equal((await Session.list('agents', { storage })).length, 1)
  const outside = Session.create('../elsewhere', { storage })
  await refused(() => outside.save(), 'StorageError', { operation: 'lock', code: 'EACCES' })
  await refused(() => Session.load('../elsewhere', 's', { storage }), 'StorageError', { operation: 'read' })
  await refused(() => Session.list('..', { storage }), 'StorageError', { operation: 'list' })
  assert.equal(existsSync(join(root, '..', 'elsewhere')), false)
})

test('a relative root is resolved against the current directory at creation', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import { NodeFileStorage } from 'peteos-session/node'
    process.chdir(${JSON.stringify(directory)})
    const storage = new NodeFileStorage({ root: 'r' })
    process.chdir('/')
    await storage.write('x', new TextEncoder().encode('x'))
  `)
  assert.equal(output, '')
  assert.deepEqual(textsUnder(directory), { 'r/x': 'x' })
})
