import * as bindings from '../../pkg/peteos_session_providers.js'
import { InvalidArgumentError, MemoryLimitError, SessionError } from '../errors.js'

/**
 * Calls the module of the providers with a text if that fits into its memory. Makes an error object of what it throws: a JSON
 * text.
 * @internal
 */
export function call<T>(text: Uint8Array, work: () => T): T {
  try {
    bindings.ensureMemory(text.length)
    return work()
  } catch (thrown) {
    if (typeof thrown !== 'string') throw thrown
    type Thrown = { message: string; argument: string | null; memory: [number, number, number] | null }
    const { message, argument, memory } = JSON.parse(thrown) as Thrown
    if (memory !== null) {
      const [needed, used, limit] = memory
      throw new MemoryLimitError(message, { needed, used, limit })
    }
    throw argument === null ? new SessionError(message) : new InvalidArgumentError(message, { argument })
  }
}
