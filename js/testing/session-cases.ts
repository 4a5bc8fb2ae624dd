import { ConflictError, SessionNotFoundError } from '../errors.js'
import { Session } from '../session/session.js'
import type { SessionStorage } from '../storage/storage.js'
import type { Case } from './case.js'
import { expect, expectNames, failureOf } from './expect.js'

/** After this many conflicts in a row, the digests must be wrong. */
const ATTEMPTS = 50

const message = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

function same(one: unknown, other: unknown, what: string): void {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)]
  expect(first === second, `${what} is not what was saved: ${second?.slice(0, 200)} instead of ${first?.slice(0, 200)}`)
}

async function savedSession(storage: SessionStorage, directory: string) {
  const session = Session.create(directory, { storage })
  session.activeContext.append(message('Grüße 🦀'))
  await session.save()
  return session
}

export const SESSION_CASES: readonly Case[] = [
  {
    name: 'a session is saved, listed and loaded',
    async run(storage, directory) {
      const absent = await failureOf(Session.load(directory, 'none', { storage }), 'load of an absent session')
      expect(absent instanceof SessionNotFoundError, `load of an absent session: ${String(absent)}`)
      const session = await savedSession(storage, directory)
      const first = session.activeContext
      first.append(message('x'.repeat(100_000)))
      const window = session.rollingSequenceWindow(1)
      await session.save()
      const again = await Session.load(directory, session.uuid, { storage })
      same(session.rawDict, again.rawDict, 'the session')
      same(window?.rawDict, again.activeContext?.rawDict, 'the active context')
      same(first.rawDict, (await again.loadContext(first.id)).rawDict, 'the other context')
      expectNames(await again.listContexts(), [first.id, again.activeContextId ?? ''], 'the contexts')
      const listed = await Session.list(directory, { storage })
      expectNames(
        listed.map(({ uuid }) => uuid),
        [session.uuid],
        'the sessions',
      )
      const names = (await storage.list(session.sessionDir)).filter((name) => name.startsWith('.'))
      expectNames(names, [], 'the leftovers of the saves')
    },
  },
  {
    name: 'a session is saved many times, by its creator and by others that loaded it',
    async run(storage, directory) {
      const session = await savedSession(storage, directory)
      for (let round = 0; round < 5; round++) {
        session.activeContext.append(message(`${round}`))
        await session.save()
      }
      const other = await Session.load(directory, session.uuid, { storage })
      other.activeContext?.append(message('other'))
      await other.save()
      const again = await Session.load(directory, session.uuid, { storage })
      expect(again.activeContext?.messageCount === 7, `of 7 messages ${again.activeContext?.messageCount} were saved`)
    },
  },
  {
    name: 'a save over the change of another writer is refused, and that change stays',
    needs: ['digest'],
    async run(storage, directory) {
      const session = await savedSession(storage, directory)
      const other = await Session.load(directory, session.uuid, { storage })
      other.activeContext?.append(message('first'))
      await other.save()
      session.activeContext.append(message('second'))
      const error = await failureOf(session.save(), "a save over another writer's change")
      expect(error instanceof ConflictError, `a save over another writer's change: ${String(error)}`)
      const again = await Session.load(directory, session.uuid, { storage })
      same(other.activeContext?.rawDict, again.activeContext?.rawDict, 'the active context')
    },
  },
  {
    name: 'no concurrent save is lost',
    needs: ['digest', 'lock'],
    async run(storage, directory) {
      const { uuid } = await savedSession(storage, directory)
      const append = async (text: string) => {
        for (let attempt = 1; ; attempt++) {
          const session = await Session.load(directory, uuid, { storage })
          session.activeContext?.append(message(text))
          try {
            return await session.save()
          } catch (error) {
            // Each conflict means that another save succeeded, and there are only a few of them.
            if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error
          }
        }
      }
      const texts = Array.from({ length: 6 }, (_, index) => `message ${index}`)
      await Promise.all(texts.map(append))
      const again = await Session.load(directory, uuid, { storage })
      const found = again.activeContext?.messages.map(({ content }) => content?.[0]?.type === 'text' && content[0].text)
      expectNames(found, ['Grüße 🦀', ...texts], 'the acknowledged messages')
    },
  },
]
