// The browser storages: the conformance suite, two tabs at once, a full disk, a closed tab.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storageConformance } from '../../dist/testing.mjs'
import { useBrowser } from './support/browser.mjs'

const withPage = useBrowser()

/** Opens tabs of one origin, with the package as `api` and a function `makeStorage(kind, name)`. */
function withTabs(count, work, options) {
  return withPage(async (page, origin) => {
    const pages = [page]
    while (pages.length < count) pages.push(await page.context().newPage())
    for (const each of pages) {
      await each.route(`${origin}/empty`, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
      )
      await each.goto(`${origin}/empty`)
      await each.evaluate(async () => {
        const api = { ...(await import('/dist/browser.js')), ...(await import('/dist/browser-storage.js')) }
        await api.init()
        const makeStorage = (kind, name = 'test') =>
          kind === 'MemoryStorage' ? new api.MemoryStorage() : new api[kind]({ name })
        const message = (text) => ({ role: 'user', content: [{ type: 'text', text }] })
        const textsOf = (session) => session.activeContext.messages.map(({ content }) => content[0].text)
        Object.assign(globalThis, { api, makeStorage, message, textsOf })
      })
    }
    await work(...pages, origin)
  }, options)
}

for (const kind of ['IndexedDBStorage', 'OPFSStorage', 'MemoryStorage']) {
  test(
    `${kind} passes the conformance suite`,
    withTabs(1, async (page) => {
      const results = await page.evaluate(async (kind) => {
        const { storageConformance } = await import('/dist/testing.js')
        const results = {}
        for (const { name, run } of storageConformance(() => makeStorage(kind))) {
          results[name] = await run().catch((error) => String(error?.stack ?? error))
        }
        return results
      }, kind)
      assert.deepEqual(
        Object.keys(results),
        storageConformance(() => null).map(({ name }) => name),
      )
      const missing = ['readMany', ...(kind === 'MemoryStorage' ? [] : ['writeSync', 'digestSync', 'lockSync'])]
      for (const [name, result] of Object.entries(results)) {
        assert.equal(result, missing.some((method) => name.includes(method)) ? 'not offered' : 'passed', name)
      }
    }),
  )
}

for (const kind of ['IndexedDBStorage', 'OPFSStorage']) {
  test(
    `${kind}: a conflict of two tabs is detected`,
    withTabs(2, async (one, other) => {
      const uuid = await one.evaluate(async (kind) => {
        globalThis.session = api.Session.create('agents', { storage: makeStorage(kind) })
        session.activeContext.append(message('first'))
        await session.save()
        return session.uuid
      }, kind)
      const append = async ([kind, uuid]) => {
        const session = await api.Session.load('agents', uuid, { storage: makeStorage(kind) })
        session.activeContext.append(message('other'))
        await session.save()
        return textsOf(session)
      }
      assert.deepEqual(await other.evaluate(append, [kind, uuid]), ['first', 'other'])
      const refused = await one.evaluate(async () => {
        session.activeContext.append(message('mine'))
        const error = await session.save().catch((error) => error)
        return [error.name, error.code, error.path === `${session.sessionDir}/${session.activeContextId}.json`]
      })
      assert.deepEqual(refused, ['ConflictError', 'ERR_CONFLICT', true])
      const texts = await one.evaluate(
        async ([kind, uuid]) => textsOf(await api.Session.load('agents', uuid, { storage: makeStorage(kind) })),
        [kind, uuid],
      )
      assert.deepEqual(texts, ['first', 'other'])
    }),
  )

  test(
    `${kind}: two tabs that append at once, and again after a conflict, lose nothing`,
    withTabs(2, async (one, other) => {
      const uuid = await one.evaluate(async (kind) => {
        const session = api.Session.create('agents', { storage: makeStorage(kind) })
        await session.save()
        return session.uuid
      }, kind)
      const appendMany = async ([kind, uuid, tab]) => {
        let conflicts = 0
        for (let round = 0; round < 15; round++) {
          for (;;) {
            const session = await api.Session.load('agents', uuid, { storage: makeStorage(kind) })
            session.activeContext.append(message(`${tab} ${round}`))
            const error = await session.save().catch((error) => error)
            if (error === undefined) break
            if (error.name !== 'ConflictError') throw error
            conflicts++
          }
        }
        return conflicts
      }
      await Promise.all([
        one.evaluate(appendMany, [kind, uuid, 'one']),
        other.evaluate(appendMany, [kind, uuid, 'other']),
      ])
      const texts = await one.evaluate(
        async ([kind, uuid]) => textsOf(await api.Session.load('agents', uuid, { storage: makeStorage(kind) })),
        [kind, uuid],
      )
      assert.deepEqual(
        [...texts].sort(),
        ['one', 'other'].flatMap((tab) => Array.from({ length: 15 }, (_, round) => `${tab} ${round}`)).sort(),
      )
    }),
  )

  test(
    `${kind}: a tab that is closed during a save leaves an intact session and no lock`,
    withTabs(2, async (one, other) => {
      const uuid = await one.evaluate(async (kind) => {
        const session = api.Session.create('agents', { storage: makeStorage(kind) })
        await session.save()
        return session.uuid
      }, kind)
      for (let round = 0; round < 3; round++) {
        const tab = await one.context().newPage()
        await tab.goto(one.url().replace(/empty$/, 'examples/browser/index.html'))
        await tab.evaluate(
          async ([kind, uuid]) => {
            const api = { ...(await import('/dist/browser.js')), ...(await import('/dist/browser-storage.js')) }
            await api.init()
            const session = await api.Session.load('agents', uuid, { storage: new api[kind]({ name: 'test' }) })
            globalThis.saved = 0
            void (async () => {
              for (;;) {
                session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'x'.repeat(5000) }] })
                await session.save()
                globalThis.saved++
              }
            })()
          },
          [kind, uuid],
        )
        await tab.waitForFunction(() => globalThis.saved >= 3)
        const saved = await tab.evaluate(() => globalThis.saved)
        const before = await other.evaluate(() => globalThis.count ?? 0)
        await tab.close()
        const count = await other.evaluate(
          async ([kind, uuid]) => {
            const session = await api.Session.load('agents', uuid, { storage: makeStorage(kind) })
            session.activeContext.append(message('after'))
            await session.save()
            globalThis.count = session.activeContext.messageCount
            return count
          },
          [kind, uuid],
        )
        assert.ok(count >= before + saved + 1, `${count} messages, ${before} before and ${saved} acknowledged`)
      }
    }),
  )

  test(
    `${kind}: a lock that cannot be acquired in time rejects with ELOCKED`,
    withTabs(2, async (one, other) => {
      await one.evaluate(async (kind) => {
        await new Promise((resolve) => void makeStorage(kind).lock('a/b', () => new Promise(resolve)))
      }, kind)
      const failure = await other.evaluate(async (kind) => {
        const storage = new api[kind]({ name: 'test', lockTimeout: 50 })
        const error = await storage.lock('a/b', async () => 'never').catch((error) => error)
        const free = await storage.lock('a/c', async () => 'free')
        return [error.code, error.path, error.message, free]
      }, kind)
      assert.deepEqual(failure.toSpliced(2, 1), ['ELOCKED', 'a/b', 'free'])
      assert.match(failure[2], /a\/b is locked by another tab/)
    }),
  )

  test(
    `${kind}: a save that exceeds the quota is ENOSPC, and the old state stands`,
    withTabs(1, async (page, origin) => {
      // From the start, because the browser checks the quota again only when its cached remainder is too small.
      const protocol = await page.context().newCDPSession(page)
      const { usage } = await page.evaluate(() => navigator.storage.estimate())
      await protocol.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + 500_000 })
      const uuid = await page.evaluate(async (kind) => {
        globalThis.session = api.Session.create('agents', { storage: makeStorage(kind) })
        session.activeContext.append(message('kept'))
        await session.save()
        return session.uuid
      }, kind)
      const failure = await page.evaluate(async (uuid) => {
        // Random bytes, because the browser may compress.
        const noise = Array.from({ length: 300_000 }, () => Math.random().toString(36).slice(2, 12)).join('')
        session.activeContext.append(message(noise))
        session.rollingSequenceWindow(0)
        const error = await session.save().then(
          () => 'saved',
          (error) => error,
        )
        const again = await api.Session.load('agents', uuid, { storage: session.storage })
        const names = await session.storage.list(session.sessionDir)
        return {
          error: [error.name, error.code, error.operation, error.cause?.name],
          texts: textsOf(again),
          names,
          id: again.activeContextId,
        }
      }, uuid)
      assert.deepEqual(failure.error, ['StorageError', 'ENOSPC', 'write', 'QuotaExceededError'])
      assert.deepEqual(failure.texts, ['kept'])
      // A window may have been small enough to be written; no file is incomplete.
      assert.deepEqual(
        failure.names.filter((name) => name.startsWith('.')),
        [],
      )
      await protocol.send('Storage.overrideQuotaForOrigin', { origin })
      assert.deepEqual(
        await page.evaluate(
          async ([kind, uuid]) => {
            await session.save()
            const again = await api.Session.load('agents', uuid, { storage: makeStorage(kind) })
            const other = await again.loadContext(session.activeContext.originContextId)
            return [again.activeContext.messageCount, other.messageCount]
          },
          [kind, uuid],
        ),
        [0, 2],
      )
    }),
  )

  test(
    `${kind}: a write of any size that exceeds the quota rejects with QuotaExceededError, and the old contents stand`,
    withTabs(1, async (page, origin) => {
      const protocol = await page.context().newCDPSession(page)
      const { usage } = await page.evaluate(() => navigator.storage.estimate())
      await protocol.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + 500_000 })
      const results = await page.evaluate(async (kind) => {
        const storage = makeStorage(kind)
        await storage.write('old', Uint8Array.of(1))
        // Random bytes, because the browser may compress.
        const noise = (size) => {
          const data = new Uint8Array(size)
          for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(data.subarray(at, at + 65_536))
          return data
        }
        const results = []
        for (const size of [1, 2, 3, 5, 8, 3, 3, 3].map((megabytes) => megabytes * 1_000_000)) {
          for (const path of ['old', 'new']) {
            const error = await storage.write(path, noise(size)).then(
              () => null,
              (error) => error,
            )
            results.push([path, size, error?.name])
          }
        }
        return { errors: results, old: [...(await storage.read('old'))], names: await storage.list('') }
      }, kind)
      assert.deepEqual(
        results.errors.filter(([, , name]) => name !== 'QuotaExceededError'),
        [],
      )
      assert.deepEqual([results.errors.length, results.old, results.names], [16, [1], ['old']])
    }),
  )

  test(
    `${kind}: storages with different names share nothing, options are checked, and paths stay inside`,
    withTabs(1, async (page) => {
      assert.deepEqual(
        await page.evaluate(async (kind) => {
          const data = Uint8Array.of(1)
          const [one, other] = [makeStorage(kind, 'one'), makeStorage(kind, 'other')]
          await one.write('/a//./b', data)
          const failed = async (work) => {
            try {
              return await work()
            } catch (error) {
              return `${error.name} ${error.argument}`
            }
          }
          return [
            await other.read('a/b'),
            (await one.read('a/b')).length,
            await one.list('/'),
            await one.list('.'),
            await failed(() => one.write('a/../../b', data)),
            await failed(() => new api[kind]({ nam: 'x' })),
            await failed(() => new api[kind]({ name: '' })),
            await failed(() => new api[kind]({ lockTimeout: -1 })),
          ]
        }, kind),
        [
          null,
          1,
          ['a'],
          ['a'],
          'InvalidArgumentError path',
          'InvalidArgumentError options.nam',
          'InvalidArgumentError options.name',
          'InvalidArgumentError options.lockTimeout',
        ],
      )
    }),
  )
}

test(
  'IndexedDBStorage reopens its database after it was deleted or closed',
  withTabs(1, async (page) => {
    assert.deepEqual(
      await page.evaluate(async () => {
        const storage = makeStorage('IndexedDBStorage', 'gone')
        await storage.write('a', Uint8Array.of(1))
        await new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase('gone')
          request.onsuccess = resolve
          request.onblocked = reject
        })
        const absent = await storage.read('a')
        await storage.write('a', Uint8Array.of(2))
        return [absent, [...(await storage.read('a'))]]
      }),
      [null, [2]],
    )
  }),
)

test(
  'OPFSStorage removes old leftovers of closed tabs',
  withTabs(1, async (page) => {
    assert.deepEqual(
      await page.evaluate(async () => {
        const storage = makeStorage('OPFSStorage', 'leftovers')
        const leftover = `d/.x.json.${crypto.randomUUID()}.tmp`
        await storage.write(leftover, new Uint8Array())
        await storage.write('d/x.json', new Uint8Array())
        await storage.lock('d', async () => undefined)
        const young = await storage.list('d')
        const now = Date.now
        Date.now = () => now() + 61_000
        await storage.lock('d', async () => undefined)
        return [young.length, await storage.list('d')]
      }),
      [2, ['x.json']],
    )
  }),
)
