import {
  ConflictError,
  type Context,
  countTokens,
  type EncodingName,
  init,
  loadEncoding,
  MemoryStorage,
  Session,
} from 'peteos-session'
import { IndexedDBStorage } from 'peteos-session/browser-storage'
import * as inline from 'peteos-session/inline'
import { NodeFileStorage } from 'peteos-session/node'
import * as slim from 'peteos-session/slim'
import { storageConformance } from 'peteos-session/testing'
import 'peteos-session/encodings/o200k_base'

export async function work(encoding: EncodingName): Promise<number> {
  await init()
  await loadEncoding(encoding)
  const session: Session = Session.create('sessions', { storage: new MemoryStorage() })
  session.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  const window: Context | null = session.rollingTokenWindow(100, encoding, { boundary: 'turn' })
  try {
    await session.save()
  } catch (error) {
    if (error instanceof ConflictError) throw error.cause
  }
  const others = inline.countTokens('x') + slim.countTokens('x') + storageConformance(() => new MemoryStorage()).length
  return countTokens('text', encoding) + (window === null ? 0 : window.messageCount) + others
}
export const storages = [() => new NodeFileStorage({ root: '.' }), () => new IndexedDBStorage()]
