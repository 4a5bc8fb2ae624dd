// The code of the module of the providers, `ProvidersCode`. Browsers import it dynamically.
import type { InitInput, SyncInitInput } from '../../pkg/peteos_session_providers.js'
import * as bindings from '../../pkg/peteos_session_providers.js'
import { InvalidArgumentError, MemoryLimitError, SessionError } from '../errors.js'
import type { ProvidersModule } from './module.js'

export async function load(source: unknown): Promise<void> {
  await bindings.default({ module_or_path: source as InitInput })
}

export function loadSync(module: unknown): void {
  bindings.initSync({ module: module as SyncInitInput })
}

export const check: ProvidersModule['check'] = (text, ...args) => call(text, () => bindings.check(text, ...args))

export const toMessages: ProvidersModule['toMessages'] = (text, ...args) =>
  call(text, () => bindings.toMessages(text, ...args))

export const fromMessages: ProvidersModule['fromMessages'] = (text, ...args) =>
  call(text, () => bindings.fromMessages(text, ...args))

/** Calls Rust with a text if that fits into its memory. Makes an error object of what it throws: a JSON text. */
function call<T>(text: Uint8Array, work: () => T): T {
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
