// The code of the module of the providers, `ProvidersCode`. Browsers import it dynamically.
import type { InitInput, SyncInitInput } from '../../pkg/peteos_session_providers.js'
import * as bindings from '../../pkg/peteos_session_providers.js'
import { InvalidArgumentError, SessionError } from '../errors.js'
import type { ProvidersModule } from './module.js'

export async function load(source: unknown): Promise<void> {
  await bindings.default({ module_or_path: source as InitInput })
}

export function loadSync(module: unknown): void {
  bindings.initSync({ module: module as SyncInitInput })
}

export const check: ProvidersModule['check'] = (...args) => call(() => bindings.check(...args))

export const toMessages: ProvidersModule['toMessages'] = (...args) => call(() => bindings.toMessages(...args))

export const fromMessages: ProvidersModule['fromMessages'] = (...args) => call(() => bindings.fromMessages(...args))

/** Makes an error object of what Rust throws: a JSON text. */
function call<T>(work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (typeof thrown !== 'string') throw thrown
    const { message, argument } = JSON.parse(thrown) as { message: string; argument: string | null }
    throw argument === null ? new SessionError(message) : new InvalidArgumentError(message, { argument })
  }
}
