// The code of the module of the providers, `ProvidersCode`. Browsers import it dynamically.
import type { InitInput, SyncInitInput } from '../../pkg/peteos_session_providers.js'
import * as bindings from '../../pkg/peteos_session_providers.js'
import type { ProvidersModule } from './module.js'
import { call } from './thrown.js'

export { readReply } from './reply.js'
export { trim } from './trim.js'

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

export const lossesOfWriting: ProvidersModule['lossesOfWriting'] = (text, ...args) =>
  call(text, () => bindings.lossesOfWriting(text, ...args))

export const lossesOfReading: ProvidersModule['lossesOfReading'] = (text, ...args) =>
  call(text, () => bindings.lossesOfReading(text, ...args))
