// The conformance suite for storage adapters: ours pass it, and broken ones do not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runModule, tempDir } from '../support/files.mjs'
import { load, require } from '../support/installed.mjs'

const { MemoryStorage } = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')
const { ConformanceError, storageConformance } = await load('peteos-session/testing')

const kinds = {
  MemoryStorage: () => new MemoryStorage(),
  NodeFileStorage: (t) => new NodeFileStorage({ root: tempDir(t) }),
  'NodeFileStorage without fsync': (t) => new NodeFileStorage({ root: tempDir(t), durability: 'unsafe-on-power-loss' }),
}

for (const [kind, make] of Object.entries(kinds)) {
  for (const [index, { name }] of storageConformance(() => undefined).entries()) {
    test(`${kind}: ${name}`, async (t) => {
      const isOffered = !name.startsWith('readMany') || make(t).readMany !== undefined
      assert.equal(await storageConformance(() => make(t))[index].run(), isOffered ? 'passed' : 'not offered')
    })
  }
}

test("an adapter with only the four required methods passes, and other cases report 'not offered'", async () => {
  const minimal = () => {
    const storage = new MemoryStorage()
    return Object.fromEntries(['read', 'write', 'list', 'remove'].map((name) => [name, storage[name].bind(storage)]))
  }
  const results = await Promise.all(storageConformance(minimal).map(({ run }) => run()))
  assert.ok(results.includes('passed') && results.includes('not offered'))
})

const text = (data) => new TextDecoder().decode(data)
const pause = () => new Promise((resolve) => setTimeout(resolve))

/** Adapters with one fault each. */
const BROKEN = {
  'absent files are empty ones': class extends MemoryStorage {
    read = async (path) => (await super.read(path)) ?? new Uint8Array()
  },
  'absent directories are an error': class extends MemoryStorage {
    async list(directory) {
      const names = await super.list(directory)
      if (names.length === 0) throw new Error('no such directory')
      return names
    }
  },
  'removing an absent file is an error': class extends MemoryStorage {
    async remove(path) {
      if ((await this.read(path)) === null) throw new Error('no such file')
      await super.remove(path)
    }
  },
  'remove does nothing': class extends MemoryStorage {
    async remove() {}
  },
  'remove takes names that start alike': class extends MemoryStorage {
    async remove(path) {
      const [directory, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)]
      for (const other of await this.list(directory)) {
        if (other.startsWith(name)) await super.remove(`${directory}/${other}`)
      }
    }
  },
  'files are text': class extends MemoryStorage {
    write = (path, data) => super.write(path, new TextEncoder().encode(text(data)))
  },
  'files are written over from the start': class extends MemoryStorage {
    async write(path, data) {
      const kept = (await super.read(path)) ?? new Uint8Array()
      const all = new Uint8Array(Math.max(kept.length, data.length))
      all.set(kept)
      all.set(data)
      await super.write(path, all)
    }
  },
  'files are cut at 64 kB': class extends MemoryStorage {
    write = (path, data) => super.write(path, data.subarray(0, 65_536))
  },
  'empty files are none': class extends MemoryStorage {
    async write(path, data) {
      if (data.length > 0) await super.write(path, data)
    }
  },
  'writes in halves': class extends MemoryStorage {
    async write(path, data) {
      await super.write(path, data.subarray(0, data.length >> 1))
      await pause()
      await super.write(path, data)
    }
  },
  'what was written is the array of the caller': class extends MemoryStorage {
    #files = new Map()
    async write(path, data) {
      this.#files.set(path, data)
      await super.write(path, data)
    }
    read = async (path) => this.#files.get(path) ?? null
  },
  'what is read is a view of what is kept': class extends MemoryStorage {
    #read = new Map()
    async read(path) {
      if (!this.#read.has(path)) this.#read.set(path, await super.read(path))
      return this.#read.get(path)
    }
    async write(path, data) {
      this.#read.delete(path)
      await super.write(path, data)
    }
  },
  'a list has whole paths': class extends MemoryStorage {
    list = async (directory) => (await super.list(directory)).map((name) => `${directory}/${name}`)
  },
  'a list has no directories': class extends MemoryStorage {
    async list(directory) {
      const names = await super.list(directory)
      const isFile = await Promise.all(names.map((name) => super.read(`${directory}/${name}`)))
      return names.filter((_, index) => isFile[index] !== null)
    }
  },
  'a list has what is in directories with names that start alike': class extends MemoryStorage {
    async list(directory) {
      const [parent, name] = [
        directory.slice(0, directory.lastIndexOf('/')),
        directory.slice(directory.lastIndexOf('/') + 1),
      ]
      const alike = (await super.list(parent)).filter((other) => other.startsWith(name))
      return [...new Set((await Promise.all(alike.map((other) => super.list(`${parent}/${other}`)))).flat())]
    }
  },
  'names are decoded as those of an address are': class extends MemoryStorage {
    write = (path, data) => super.write(path.split('#')[0], data)
  },
  'names are composed': class extends MemoryStorage {
    write = (path, data) => super.write(path.normalize('NFC'), data)
    read = (path) => super.read(path.normalize('NFC'))
  },
  'temporary files stay': class extends MemoryStorage {
    async write(path, data) {
      await super.write(`${path}.tmp`, data)
      await super.write(path, data)
    }
  },
  'digests are in upper case': class extends MemoryStorage {
    digest = async (path) => (await super.digest(path))?.toUpperCase() ?? null
    digestSync = (path) => super.digestSync(path)?.toUpperCase() ?? null
  },
  'digests are lengths': class extends MemoryStorage {
    digest = async (path) => String((await super.read(path))?.length ?? '')
  },
  'digests are those of the first answer': class extends MemoryStorage {
    #digests = new Map()
    async digest(path) {
      if (!this.#digests.get(path)) this.#digests.set(path, await super.digest(path))
      return this.#digests.get(path)
    }
  },
  'digestSync is undefined': class extends MemoryStorage {
    digestSync = () => undefined
  },
  'times are in seconds': class extends MemoryStorage {
    modifiedTime = async (path) => ((await super.modifiedTime(path)) ?? 0) / 1000
  },
  'writeSync writes later': class extends MemoryStorage {
    writeSync(path, data) {
      setTimeout(() => super.writeSync(path, data.slice()), 5)
    }
    write = async (path, data) => super.writeSync(path, data)
  },
  'a lock lets everybody in': class extends MemoryStorage {
    lock = (_, work) => work()
  },
  'a lock stays when its work fails': class extends MemoryStorage {
    #failed = new Set()
    async lock(directory, work) {
      if (this.#failed.has(directory)) throw Object.assign(new Error('the directory is locked'), { code: 'ELOCKED' })
      try {
        return await super.lock(directory, work)
      } catch (error) {
        this.#failed.add(directory)
        throw error
      }
    }
  },
  'a lock forgets what its work gives': class extends MemoryStorage {
    lock = async (directory, work) => void (await super.lock(directory, work))
  },
  'a lock wraps the failure of its work': class extends MemoryStorage {
    lock = (directory, work) =>
      super.lock(directory, work).catch((cause) => {
        throw new Error('failed', { cause })
      })
  },
  'a lock runs its work twice': class extends MemoryStorage {
    lock = (directory, work) =>
      super.lock(directory, async () => {
        await work()
        return work()
      })
  },
  'a lock leaves a file': class extends MemoryStorage {
    async lock(directory, work) {
      await super.write(`${directory}/.lock`, new Uint8Array())
      return super.lock(directory, work)
    }
  },
  'while it is locked there is a file that may be taken for one of a session': class extends MemoryStorage {
    lock = (directory, work) =>
      super.lock(directory, async () => {
        await super.write(`${directory}/lock`, new Uint8Array())
        return work().finally(() => super.remove(`${directory}/lock`))
      })
  },
  'a synchronous lock does not take the lock from its holder': class extends MemoryStorage {
    lockSync = (_, work) => work({ check: () => undefined })
  },
  'a synchronous lock takes the lock from its holder, even if it writes nothing': class extends MemoryStorage {
    lockSync = (directory, work) =>
      super.lockSync(directory, (lease) => {
        lease.check()
        return work(lease)
      })
  },
  'a synchronous lock stays when its work fails': class extends MemoryStorage {
    #failed = false
    lockSync(directory, work) {
      if (this.#failed) throw Object.assign(new Error('the directory is locked'), { code: 'ELOCKED' })
      this.#failed = true
      const value = super.lockSync(directory, work)
      this.#failed = false
      return value
    }
  },
  'writes do not look at the lease': class extends MemoryStorage {
    write = (path, data) => super.write(path, data)
  },
  'a lock beside another is an error': class extends MemoryStorage {
    #isHeld = false
    async lock(directory, work) {
      if (this.#isHeld && directory.includes('/'))
        throw Object.assign(new Error('the directory is locked'), { code: 'ELOCKED' })
      return super.lock(directory, async () => {
        this.#isHeld = true
        return work().finally(() => {
          this.#isHeld = false
        })
      })
    }
  },
}

for (const [fault, Broken] of Object.entries(BROKEN)) {
  test(`the suite detects the fault: ${fault}`, async () => {
    const [name, error] = await firstFailure(Broken)
    assert.ok(error instanceof Error && error.message.length > 10, name)
    if (!/an error$/.test(fault)) assert.ok(error instanceof ConformanceError, `${name}: ${error}`)
  })
}

async function firstFailure(Broken) {
  for (const { name, run } of storageConformance(() => new Broken())) {
    try {
      await run()
    } catch (error) {
      return [name, error]
    }
  }
  assert.fail('it passes')
}

test('a value that is not an adapter is refused, and an adapter may be created asynchronously', async () => {
  const [first] = storageConformance(() => ({}))
  await assert.rejects(first.run(), { name: 'InvalidArgumentError' })
  const [late] = storageConformance(async () => new MemoryStorage())
  assert.equal(await late.run(), 'passed')
})

test('the suite needs no other entry of the package, under import and under require', async () => {
  const body = `
    const files = new Map()
    const names = (directory) => [...files.keys()].filter((path) => path.startsWith(directory + '/')).map((path) => path.slice(directory.length + 1).split('/')[0])
    const storage = {
      read: (path) => files.get(path)?.slice() ?? null,
      write: (path, data) => void files.set(path, data.slice()),
      list: (directory) => [...new Set(names(directory))],
      remove: (path) => void files.delete(path),
    }
    const run = async () => {
      for (const { run } of storageConformance(() => storage)) await run()
      console.log('passed')
    }
    run()`
  assert.equal(await runModule(`import { storageConformance } from 'peteos-session/testing'\n${body}`), 'passed\n')
  const required = `const { storageConformance } = require('peteos-session/testing')\n${body}`
  assert.equal(await runModule(required, { extension: 'cjs' }), 'passed\n')
  assert.equal(require('peteos-session/testing').storageConformance, storageConformance)
})
