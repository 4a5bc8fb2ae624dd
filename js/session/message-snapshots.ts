import type { ContextHandle } from '../../pkg/peteos_session.js'
import type { StoredMessage } from '../messages/message.js'
import { deepFreeze, fromJsonText } from '../wasm/json-text.js'

/** How many new messages are kept until the list is read: a caller that only appends needs no copies. */
const MOST_ADDED = 256

/**
 * The messages of a context as frozen objects. After a change a new list is built, which reuses the objects of messages that
 * did not change.
 * @internal
 */
export class MessageSnapshots {
  #revision = -1
  #list: readonly StoredMessage[] = Object.freeze([])
  /** The key of each message in the list. Rust assigns a new one to every new or changed message. */
  #keys: Float64Array = new Float64Array(0)
  /** The latest messages that were stored since the list was built, by key. */
  readonly #added = new Map<number, StoredMessage>()

  /** The current messages. */
  of(handle: ContextHandle): readonly StoredMessage[] {
    const revision = handle.revision
    if (revision !== this.#revision) {
      this.#refresh(handle)
      this.#revision = revision
    }
    return this.#list
  }

  /** Adds a message that was just stored, and freezes it. */
  add(key: number, message: StoredMessage): StoredMessage {
    this.#added.set(key, deepFreeze(message))
    if (this.#added.size > MOST_ADDED) this.#added.delete(this.#added.keys().next().value as number)
    return message
  }

  /** Like {@link add}, for a message that replaces another one. */
  replace(oldKey: number, key: number, message: StoredMessage): StoredMessage {
    this.#added.delete(oldKey)
    return this.add(key, message)
  }

  /** Keeps the unchanged beginning and end of the list, and looks up or fetches the messages between them. */
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

  /** The messages with these keys; `start` is the index of the first. */
  #messages(handle: ContextHandle, keys: Float64Array, start: number): StoredMessage[] {
    const missing: number[] = []
    keys.forEach((key, index) => {
      if (!this.#added.has(key)) missing.push(start + index)
    })
    // A call returns as many as fit into one text.
    for (let done = 0; done < missing.length; ) {
      const fetched = fromJsonText<StoredMessage[]>(handle.messagesText(Uint32Array.from(missing.slice(done))))
      for (const message of fetched) {
        this.#added.set(keys[(missing[done++] as number) - start] as number, message)
      }
    }
    return Array.from(keys, (key) => this.#added.get(key) as StoredMessage)
  }
}
