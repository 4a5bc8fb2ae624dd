// NodeFileStorage: threads and processes that wait for one lock get it in order of arrival.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runModule, tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { age, endedHolder, livingHolder, lockFile, lockText, newToken, ownLock, readLock } from '../support/locks.mjs'
import { script, start } from '../support/processes.mjs'

const { NodeFileStorage } = await load('peteos-session/node')

const bytes = (content) => new TextEncoder().encode(content)
const soon = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const ticketsIn = (directory) => readdirSync(directory).filter((name) => name.endsWith('.ticket'))

async function until(holds) {
  while (!holds()) await soon(2)
}

/** Holds the lock of a directory until `release()`. */
async function holding(storage, directory) {
  let release
  const held = new Promise((resolve) => {
    void storage.lock(directory, () => {
      resolve()
      return new Promise((done) => {
        release = done
      })
    })
  })
  await held
  return () => release()
}

/** Waits for the lock of a directory, says that it has it, and keeps it for a moment. */
const WAIT = `
  const { NodeFileStorage } = await import('peteos-session/node')
  console.log('starts')
  await new NodeFileStorage().lock(process.argv[2], async () => {
    console.log('has the lock')
    await new Promise((resolve) => setTimeout(resolve, Number(process.argv[3] ?? 5)))
  })
`

/** A process that waits for the lock of a directory. */
async function waiter(file, directory, ...rest) {
  const before = ticketsIn(directory)
  const child = start(file, directory, ...rest)
  await until(() => ticketsIn(directory).some((name) => !before.includes(name)))
  return child
}

test('processes get the lock in the order in which they began to wait', async (t) => {
  const directory = tempDir(t)
  const file = script(
    t,
    `
    import { appendFileSync } from 'node:fs'
    const { NodeFileStorage } = await import('peteos-session/node')
    await new NodeFileStorage().lock(process.argv[2], async () => appendFileSync(process.argv[3], process.argv[4]))
    `,
  )
  const order = join(tempDir(t), 'order')
  const release = await holding(new NodeFileStorage(), directory)
  const children = []
  for (const name of ['a', 'b', 'c', 'd']) children.push(await waiter(file, directory, order, name))
  release()
  await Promise.all(children.map(({ ended }) => ended))
  assert.equal(readFileSync(order, 'utf8'), 'abcd')
  assert.deepEqual(readdirSync(directory), [])
})

test('four processes that ask again and again take turns, and none falls behind', async (t) => {
  const directory = tempDir(t)
  const turns = join(tempDir(t), 'turns')
  const file = script(
    t,
    `
    import { appendFileSync } from 'node:fs'
    const { NodeFileStorage } = await import('peteos-session/node')
    const [directory, turns, name] = process.argv.slice(2)
    const storage = new NodeFileStorage()
    for (let turn = 0; turn < 40; turn++) {
      await storage.lock(directory, async () => appendFileSync(turns, name))
      if (turn === 0) await storage.lock(directory, async () => new Promise((resolve) => setTimeout(resolve, 300)))
    }
    `,
  )
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => start(file, directory, turns, name).ended))
  const text = readFileSync(turns, 'utf8')
  assert.equal(text.length, 160)
  const first = Math.min(...['a', 'b', 'c', 'd'].map((name) => text.lastIndexOf(name)))
  for (const name of ['a', 'b', 'c', 'd']) {
    const made = text.slice(0, first).split(name).length - 1
    assert.ok(made >= 20, `${name} had ${made} of 40 turns when another was done`)
  }
  assert.deepEqual(readdirSync(directory), [])
})

test('a process that is killed while it waits is skipped', async (t) => {
  const directory = tempDir(t)
  const file = script(t, WAIT)
  const release = await holding(new NodeFileStorage(), directory)
  const killed = await waiter(file, directory)
  const next = await waiter(file, directory)
  killed.kill()
  await killed.ended
  assert.equal(ticketsIn(directory).length, 2)
  release()
  assert.equal(await next.ended, 0)
  assert.deepEqual(readdirSync(directory), [])
})

test('a process that is killed right after the lock was given to it is replaced at once', async (t) => {
  const directory = tempDir(t)
  const file = script(t, WAIT)
  const release = await holding(new NodeFileStorage(), directory)
  const stopped = await waiter(file, directory)
  const next = await waiter(file, directory)
  process.kill(stopped.pid, 'SIGSTOP')
  release()
  await until(() => existsSync(lockFile(directory)) && readLock(directory).pid === stopped.pid)
  await soon(20)
  assert.deepEqual(next.lines, ['starts'], 'the lock of a living process is never taken')
  stopped.kill()
  await stopped.ended
  const started = performance.now()
  assert.equal(await next.ended, 0)
  assert.ok(performance.now() - started < 3000)
  assert.deepEqual(readdirSync(directory), [])
})

test('whoever gives up leaves the queue, and those behind are served', async (t) => {
  const directory = tempDir(t)
  const file = script(
    t,
    `
    const { NodeFileStorage } = await import('peteos-session/node')
    const [directory, how] = process.argv.slice(2)
    const options = how === 'signal' ? { signal: AbortSignal.timeout(300) } : {}
    const storage = new NodeFileStorage({ lockTimeout: how === 'timeout' ? 300 : 30_000 })
    if (how === 'sync') setTimeout(() => undefined, 10)
    await storage.lock(directory, async () => console.log('had'), options).catch((error) => console.log(error.code ?? error.name))
    `,
  )
  const release = await holding(new NodeFileStorage(), directory)
  const impatient = [await waiter(file, directory, 'timeout'), await waiter(file, directory, 'signal')]
  const patient = await waiter(file, directory, 'patient')
  await Promise.all(impatient.map(({ ended }) => ended))
  assert.equal(impatient[0].lines[0], 'ELOCKED')
  assert.notEqual(impatient[1].lines[0], 'had')
  assert.equal(ticketsIn(directory).length, 1)
  release()
  await patient.ended
  assert.deepEqual(patient.lines, ['had'])
  assert.deepEqual(readdirSync(directory), [])
})

test('synchronous callers of other processes wait in the same queue', async (t) => {
  const directory = tempDir(t)
  const order = join(tempDir(t), 'order')
  const file = script(
    t,
    `
    import { appendFileSync } from 'node:fs'
    const { NodeFileStorage } = await import('peteos-session/node')
    const [directory, order, name] = process.argv.slice(2)
    const work = () => appendFileSync(order, name)
    if (name === 'S') new NodeFileStorage().lockSync(directory, work)
    else await new NodeFileStorage().lock(directory, async () => work())
    `,
  )
  const release = await holding(new NodeFileStorage(), directory)
  const children = []
  for (const name of ['a', 'S', 'b']) children.push(await waiter(file, directory, order, name))
  release()
  await Promise.all(children.map(({ ended }) => ended))
  assert.equal(readFileSync(order, 'utf8'), 'aSb')
})

test('a synchronous caller takes a lock that was given to an asynchronous one of its thread, which still gets it', async (t) => {
  for (const writes of [false, true]) {
    const directory = tempDir(t)
    const storage = new NodeFileStorage()
    const place = await ownLock(storage, directory)
    // A process of this machine that lives holds the lock, as far as anybody can tell.
    writeFileSync(lockFile(directory), lockText(livingHolder(place.place)))
    let lease
    const waiting = storage.lock(directory, async (given) => {
      given.check()
      lease = given
    })
    await until(() => ticketsIn(directory).length === 1)
    // It gives the lock to the caller, which cannot notice before this function waits.
    renameSync(join(directory, ticketsIn(directory)[0]), lockFile(directory))
    const path = join(directory, 'x.json')
    storage.lockSync(directory, (given) => {
      if (writes) storage.writeSync(path, bytes('x'), given)
    })
    assert.equal(lease, undefined)
    await waiting
    assert.ok(lease !== undefined)
    assert.deepEqual(readdirSync(directory), writes ? ['x.json'] : [])
  }
})

test('tickets of ended threads and of silent threads elsewhere are skipped and removed, others get the lock', async (t) => {
  const storage = new NodeFileStorage({ lockTimeout: 0 })
  const { place } = await ownLock(storage, tempDir(t))
  const living = livingHolder(place)
  const cases = [
    ['of a living process', living, 100, true],
    ['of an ended process', await endedHolder(place), 0, false],
    ['of a process with the id of another', { ...living, started: living.started - 1 }, 0, false],
    ['elsewhere, touched a second ago', { ...living, place: 'elsewhere' }, 1, true],
    ['elsewhere, touched 4 s ago', { ...living, place: 'elsewhere' }, 4, false],
  ]
  for (const [about, holder, seconds, isGiven] of cases) {
    const directory = tempDir(t)
    const token = newToken()
    const name = `.lock.000001.${token}.ticket`
    await storage.lock(directory, async () => {
      writeFileSync(join(directory, name), lockText({ ...holder, token }))
      age(join(directory, name), seconds)
    })
    if (isGiven) assert.equal(readLock(directory).token, token, about)
    assert.deepEqual(readdirSync(directory), isGiven ? ['.lock'] : [], about)
  }
})

test('a lock that nobody waits for takes the same system calls as without a queue', async (t) => {
  const directory = tempDir(t)
  const output = await runModule(`
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const calls = []
    let isCounting = false
    for (const name of ['openSync', 'writeFileSync', 'readFileSync', 'linkSync', 'unlinkSync', 'renameSync', 'readdirSync', 'statSync', 'fstatSync']) {
      const original = fs[name]
      fs[name] = (...args) => {
        if (isCounting) calls.push(name)
        // Some of these functions call others.
        const wasCounting = isCounting
        isCounting = false
        try {
          return original(...args)
        } finally {
          isCounting = wasCounting
        }
      }
    }
    syncBuiltinESMExports()
    const { NodeFileStorage } = await import('peteos-session/node')
    const storage = new NodeFileStorage()
    const lock = () => storage.lock(${JSON.stringify(directory)}, async () => undefined)
    await lock()
    isCounting = true
    await lock()
    console.log(calls.join(' '))
  `)
  const acquire = 'statSync openSync writeFileSync linkSync unlinkSync'
  const release = 'readdirSync openSync fstatSync readFileSync unlinkSync'
  assert.equal(output, `${acquire} ${release}\n`)
})
