import type { ContextHandle } from '../../pkg/peteos_session.js'
import type { StoredMessage } from '../messages/message.js'
import { deepFreeze, fromJsonText } from '../wasm/json-text.js'

/** The number of new messages that are kept until the list is read: a caller that only appends needs no copies. */
const MOST_ADDED = 256

/**
 * The messages of a context as frozen objects. After a change the list is made anew, of the objects that are known already
 * and those that are new.
 * @internal
 */
export class MessageSnapshots {
  #revision = -1
  #list: readonly StoredMessage[] = Object.freeze([])
  /** For each message of the list the key that Rust gives it: new for each new message and each changed one. */
  #keys: Float64Array = new Float64Array(0)
  /** Messages by key that were stored since the list was made, the last of them. */
  readonly #added = new Map<number, StoredMessage>()

  /** The messages as they are now. */
  of(handle: ContextHandle): readonly StoredMessage[] {
    const revision = handle.revision
    if (revision !== this.#revision) {
      this.#refresh(handle)
      this.#revision = revision
    }
    return this.#list
  }

  /** Takes a message that was stored just now, and freezes it. */
  add(key: number, message: StoredMessage): StoredMessage {
    this.#added.set(key, deepFreeze(message))
    if (this.#added.size > MOST_ADDED) this.#added.delete(this.#added.keys().next().value as number)
    return message
  }

  /** As {@link add}, for a message that takes the place of another. */
  replace(oldKey: number, key: number, message: StoredMessage): StoredMessage {
    this.#added.delete(oldKey)
    return this.add(key, message)
  }

  /** Between what is the same at both ends, the messages are looked up or fetched. */
  #refresh(handle: ContextHandle): void {
    const before = this.#keys
    const now = handle.messageKeys()
    const shorter = Math.min(before.length, now.length)
    let head = 0
    while (head < shorter && before[head] === now[head]) head++
    let tail = 0
    while (tail < shorter - head && before[before.length - 1 - tail] === now[now.length - 1 - tail]) tail++
    if (head + tail < Math.max(before.length, now.length)) {
      for (let index = head; index < before.length - tail; index++) {
        this.#added.set(before[index] as number, this.#list[index] as StoredMessage)
      }
      const middle = this.#messages(handle, now.subarray(head, now.length - tail), head)
      const end = this.#list.slice(before.length - tail)
      this.#list = Object.freeze(this.#list.slice(0, head).concat(middle, end))
      this.#keys = now
    }
    this.#added.clear()
  }

  /** The messages with these keys, the first of which stands at `start`. */
  #messages(handle: ContextHandle, keys: Float64Array, start: number): StoredMessage[] {
    const missing: number[] = []
    keys.forEach((key, index) => {
      if (!this.#added.has(key)) missing.push(start + index)
    })
    // Very long ones come in several pieces.
    for (let done = 0; done < missing.length; ) {
      const fetched = fromJsonText<StoredMessage[]>(handle.messagesText(Uint32Array.from(missing.slice(done))))
      for (const message of fetched) {
        this.#added.set(keys[(missing[done++] as number) - start] as number, message)
      }
    }
    return Array.from(keys, (key) => this.#added.get(key) as StoredMessage)
  }
}
