import type { StorageLease } from '../storage/lease.js'
import type { SessionStorage } from '../storage/storage.js'
import type { Case } from './case.js'
import { expect, expectBytes, expectNames, failureOf, withinSeconds } from './expect.js'

const pause = (milliseconds = 0) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

async function lock<T>(
  storage: SessionStorage,
  directory: string,
  work: (lease?: StorageLease) => Promise<T>,
): Promise<T> {
  return withinSeconds(
    20,
    (storage.lock as NonNullable<SessionStorage['lock']>).call(storage, directory, work) as Promise<T>,
    'lock',
  )
}

const ASYNC_LOCK_CASES: readonly Case[] = (
  [
    {
      name: 'lock runs its work once and returns the result',
      async run(storage, directory) {
        let runs = 0
        const value = {}
        const given = await lock(storage, directory, async () => {
          runs++
          await pause()
          return value
        })
        expect(runs === 1, `lock ran its work ${runs} times`)
        expect(given === value, 'lock did not return the result of its work')
      },
    },
    {
      name: 'the lock of a directory has one holder at a time',
      async run(storage, directory) {
        let holders = 0
        let runs = 0
        const work = async () => {
          holders++
          expect(holders === 1, `${holders} holders have the lock of one directory`)
          await pause(3)
          holders--
          runs++
        }
        await Promise.all(Array.from({ length: 10 }, () => lock(storage, directory, work)))
        expect(runs === 10, `${runs} of 10 callers acquired the lock`)
      },
    },
    {
      name: 'a lock is released when its work fails, and throws the same error',
      async run(storage, directory) {
        for (const thrown of [new Error('of the work'), undefined, 'text']) {
          const fail = async () => {
            await pause()
            throw thrown
          }
          expect(
            (await failureOf(lock(storage, directory, fail), 'a lock')) === thrown,
            'lock did not throw what its work threw',
          )
        }
        const failAtOnce = (): Promise<never> => {
          throw new Error('at once')
        }
        await failureOf(lock(storage, directory, failAtOnce), 'a lock whose work throws synchronously')
        expect((await lock(storage, directory, async () => 'free')) === 'free', 'the lock was not released')
      },
    },
    {
      name: 'locks of different directories do not wait for one another',
      async run(storage, directory) {
        const inner = () => lock(storage, `${directory}/a/b`, async () => 'inner')
        const middle = () => lock(storage, `${directory}/ab`, inner)
        expect(
          (await lock(storage, `${directory}/a`, middle)) === 'inner',
          'lock did not return the result of its work',
        )
      },
    },
    {
      name: 'files can be read and written with the lock and without it',
      async run(storage, directory) {
        const data = Uint8Array.of(1, 2, 3)
        await lock(storage, directory, async () => {
          await storage.write(`${directory}/file`, data)
          expectBytes(await storage.read(`${directory}/file`), data, 'a file written within the lock')
        })
        expectBytes(await storage.read(`${directory}/file`), data, 'a file after the release of the lock')
      },
    },
    {
      name: 'a lock leaves nothing behind',
      async run(storage, directory) {
        await storage.write(`${directory}/file`, Uint8Array.of(1))
        await lock(storage, directory, async () => {
          const names = (await storage.list(directory)).filter((name) => !name.startsWith('.'))
          expectNames(names, ['file'], 'the directory while it is locked, without names that start with a dot')
        })
        await failureOf(
          lock(storage, directory, () => Promise.reject(new Error('x'))),
          'a lock',
        )
        expectNames(await storage.list(directory), ['file'], 'the directory after it was locked')
      },
    },
  ] satisfies Case[]
).map((each) => ({ ...each, needs: ['lock'] as const }))

function lockSync<T>(storage: SessionStorage, directory: string, work: (lease?: StorageLease) => T): T {
  return (storage.lockSync as NonNullable<SessionStorage['lockSync']>).call(storage, directory, work) as T
}

const SYNC_LOCK_CASES: readonly Case[] = (
  [
    {
      name: 'lockSync runs its work once, returns the result or throws the same error, and releases the lock',
      async run(storage, directory) {
        let runs = 0
        const value = {}
        const work = () => {
          runs++
          return value
        }
        expect(lockSync(storage, directory, work) === value, 'lockSync did not return the result of its work')
        expect(runs === 1, `lockSync ran its work ${runs} times`)
        for (const thrown of [new Error('of the work'), undefined, 'text']) {
          const fail = () => {
            throw thrown
          }
          const failure = await failureOf((async () => lockSync(storage, directory, fail))(), 'a synchronous lock')
          expect(failure === thrown, 'lockSync did not throw what its work threw')
        }
        expect((await lock(storage, directory, async () => 'free')) === 'free', 'the lock was not released')
        expect(lockSync(storage, directory, () => 'free') === 'free', 'the lock was not released')
      },
    },
    {
      name: 'lockSync leaves nothing behind, and a lock that waits for it is acquired afterwards',
      async run(storage, directory) {
        await storage.write(`${directory}/file`, Uint8Array.of(1))
        let order = ''
        const later = lockSync(storage, directory, () => {
          const waiting = lock(storage, directory, async () => {
            order += 'later'
          })
          order += 'first,'
          return waiting
        })
        await later
        expect(order === 'first,later', `the order was ${order}`)
        expectNames(await storage.list(directory), ['file'], 'the directory after it was locked')
      },
    },
    {
      name: 'of a holder and a lockSync that writes, only one can write: the other is refused or loses its lease',
      async run(storage, directory) {
        const path = `${directory}/file`
        await storage.write(path, Uint8Array.of(1))
        const outcome = await lock(storage, directory, async (lease) => {
          try {
            lockSync(storage, directory, (own) => storage.writeSync?.(path, Uint8Array.of(2), own))
          } catch (error) {
            expect(codeOf(error) === 'ELOCKED', `lockSync was refused without the code ELOCKED: ${String(error)}`)
            await storage.write(path, Uint8Array.of(3), lease)
            return 3
          }
          const failure = await failureOf(
            (async () => storage.write(path, Uint8Array.of(3), lease))(),
            'a write with a lost lease',
          )
          expect(codeOf(failure) === 'ELOCKLOST', `a write with a lost lease: ${String(failure)}`)
          await failureOf((async () => lease?.check())(), 'the check of a lost lease')
          return 2
        })
        expectBytes(await storage.read(path), Uint8Array.of(outcome), 'the file')
        await lock(storage, directory, async (lease) => storage.write(path, Uint8Array.of(4), lease))
        expectBytes(await storage.read(path), Uint8Array.of(4), 'the file after another lock')
      },
    },
    {
      name: 'a holder keeps its lock when a lockSync writes nothing',
      async run(storage, directory) {
        const path = `${directory}/file`
        await lock(storage, directory, async (lease) => {
          const refuse = () => {
            throw Object.assign(new Error('of the work'), { code: 'ELOCKED' })
          }
          await failureOf((async () => lockSync(storage, directory, refuse))(), 'a synchronous lock')
          const goOn = async () => storage.write(path, Uint8Array.of(1), lease)
          const failure = await goOn().catch((error: unknown) => error)
          expect(failure === undefined, `the holder lost its lock to a lockSync that wrote nothing: ${String(failure)}`)
        })
        expectBytes(await storage.read(path), Uint8Array.of(1), 'the file')
        expectNames(await storage.list(directory), ['file'], 'the directory after it was locked')
      },
    },
  ] satisfies Case[]
).map((each) => ({ ...each, needs: ['lock', 'writeSync', 'lockSync'] as const }))

export const LOCK_CASES: readonly Case[] = [...ASYNC_LOCK_CASES, ...SYNC_LOCK_CASES]

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code
}
