import type { ContextHandle } from '../pkg/peteos_session.js'
import { fromJsonText } from './json.js'
import type { StoredMessage } from './types.js'

/**
 * The messages of a context as frozen objects. Each crosses from Rust once; the list is made anew only after a change,
 * of the objects that are known already.
 * @internal
 */
export class MessageSnapshots {
  /** By the key that Rust gives each message and each changed one. */
  #known = new Map<number, StoredMessage>()
  #list: readonly StoredMessage[] = Object.freeze([])
  #revision = -1

  /** The messages as they are now. */
  of(handle: ContextHandle): readonly StoredMessage[] {
    const revision = handle.revision
    if (revision !== this.#revision) {
      this.#refresh(handle)
      this.#revision = revision
    }
    return this.#list
  }

  /** Takes the key and the text of a message that was stored just now. */
  add(stored: readonly unknown[]): StoredMessage {
    const [key, text] = stored as readonly [number, string]
    const message = fromJsonText<StoredMessage>(text)
    this.#known.set(key, message)
    return message
  }

  #refresh(handle: ContextHandle): void {
    const keys = handle.messageKeys()
    const missing: number[] = []
    keys.forEach((key, position) => {
      if (!this.#known.has(key)) missing.push(position)
    })
    if (missing.length > 0) {
      const fetched = fromJsonText<StoredMessage[]>(handle.messagesText(Uint32Array.from(missing)))
      fetched.forEach((message, index) => this.#known.set(keys[missing[index] as number] as number, message))
    }
    const list = Array.from(keys, (key) => this.#known.get(key) as StoredMessage)
    // Messages that are gone are forgotten.
    if (this.#known.size > list.length) {
      this.#known = new Map(list.map((message, position) => [keys[position] as number, message]))
    }
    const isSame = list.length === this.#list.length && list.every((message, position) => message === this.#list[position])
    if (!isSame) this.#list = Object.freeze(list)
  }
}
