// Messages of sessions: how the suites write them, and find them again.
import { readdirSync } from 'node:fs'
import { load } from '../../package/support/installed.mjs'

const { Session } = await load('peteos-session')

export const message = (text) => ({ role: 'user', content: [{ type: 'text', text }] })

export const hiddenNames = (directory) => readdirSync(directory).filter((name) => name.startsWith('.'))

/** The texts of all messages in all contexts of a session, read anew. Throws if one of them cannot be loaded. */
export async function textsOf(parentDir, uuid, storage) {
  const session = await Session.load(parentDir, uuid, { storage })
  try {
    const texts = new Set()
    for (const id of await session.listContexts()) {
      for (const { content } of (await session.loadContext(id)).messages) texts.add(content?.[0]?.text)
    }
    return texts
  } finally {
    session.free()
  }
}
