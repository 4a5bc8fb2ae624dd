import { ContextNotFoundError, InvalidArgumentError } from '../errors.js'
import type { StoredMessage } from '../messages/message.js'
import type { Context } from './context.js'

/**
 * The messages of a context and of those that it was forked from, each once, as the oldest of these contexts has it.
 *
 * @param load Loads a context by its id.
 * @internal
 */
export async function transcriptOf(newest: Context, load: (id: string) => Promise<Context>): Promise<StoredMessage[]> {
  const messages = new Map<string, StoredMessage>()
  // Each is read before the next is loaded, because a caller may free or change a context meanwhile.
  const lists = [newest.messages]
  const seen = new Set([newest.id])
  for (let id = newest.originContextId; id !== null && !seen.has(id); ) {
    seen.add(id)
    const origin = await loadedOrNull(id, load)
    if (origin === null) break
    lists.push(origin.messages)
    id = origin.originContextId
  }
  for (const message of lists.reverse().flat()) {
    if (!messages.has(message.id)) messages.set(message.id, message)
  }
  return [...messages.values()]
}

/** The context; `null` if it was removed, or if the id is not that of a file. */
async function loadedOrNull(id: string, load: (id: string) => Promise<Context>): Promise<Context | null> {
  try {
    return await load(id)
  } catch (error) {
    if (error instanceof ContextNotFoundError || error instanceof InvalidArgumentError) return null
    throw error
  }
}
