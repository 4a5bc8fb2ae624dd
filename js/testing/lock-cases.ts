import type { SessionStorage } from '../storage/storage.js'
import type { Case } from './case.js'
import { expect, expectBytes, expectNames, failureOf, withinSeconds } from './expect.js'

const pause = (milliseconds = 0) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

async function lock<T>(storage: SessionStorage, directory: string, work: () => Promise<T>): Promise<T> {
  return withinSeconds(
    20,
    (storage.lock as NonNullable<SessionStorage['lock']>).call(storage, directory, work) as Promise<T>,
    'lock',
  )
}

export const LOCK_CASES: readonly Case[] = (
  [
    {
      name: 'a lock runs what it is given once, and gives what that gives',
      async run(storage, directory) {
        let runs = 0
        const value = {}
        const given = await lock(storage, directory, async () => {
          runs++
          await pause()
          return value
        })
        expect(runs === 1, `lock ran its work ${runs} times`)
        expect(given === value, 'lock gave something else than its work')
      },
    },
    {
      name: 'one holder at a time has the lock of a directory',
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
        expect(runs === 10, `of 10 that asked for the lock ${runs} had it`)
      },
    },
    {
      name: 'a lock is released when its work fails, and the failure is thrown on as it is',
      async run(storage, directory) {
        for (const thrown of [new Error('of the work'), undefined, 'text']) {
          const fail = async () => {
            await pause()
            throw thrown
          }
          expect(
            (await failureOf(lock(storage, directory, fail), 'a lock')) === thrown,
            'lock threw something else than its work',
          )
        }
        const failAtOnce = (): Promise<never> => {
          throw new Error('at once')
        }
        await failureOf(lock(storage, directory, failAtOnce), 'a lock whose work throws before there is a promise')
        expect((await lock(storage, directory, async () => 'free')) === 'free', 'the lock is not free')
      },
    },
    {
      name: 'locks of different directories do not wait for one another',
      async run(storage, directory) {
        const inner = () => lock(storage, `${directory}/a/b`, async () => 'inner')
        const middle = () => lock(storage, `${directory}/ab`, inner)
        expect((await lock(storage, `${directory}/a`, middle)) === 'inner', 'lock gave something else than its work')
      },
    },
    {
      name: 'who holds a lock, and who does not, may read and write',
      async run(storage, directory) {
        const data = Uint8Array.of(1, 2, 3)
        await lock(storage, directory, async () => {
          await storage.write(`${directory}/file`, data)
          expectBytes(await storage.read(`${directory}/file`), data, 'a file written within the lock')
        })
        expectBytes(await storage.read(`${directory}/file`), data, 'a file after the lock')
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
).map((each) => ({ ...each, needs: ['lock'] }))
