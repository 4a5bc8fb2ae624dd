import type { ProviderName } from '../generated/lists.js'
import type { Trimmed, TrimOptions } from './trim-types.js'

/**
 * The functions of the module of the providers. They keep no state: a context and a request go in as JSON text in UTF-8.
 * @internal
 */
export interface ProvidersModule {
  /** The findings of a conversation, as a JSON array. */
  check(conversation: Uint8Array, provider: string): string
  /** The fields of a request with a conversation, as a JSON object. */
  toMessages(conversation: Uint8Array, provider: string, repair: boolean): string
  /** The new conversation of a request. */
  fromMessages(request: Uint8Array, provider: string): Uint8Array
  /** What `toMessages` leaves out or changes, as a JSON array. */
  lossesOfWriting(conversation: Uint8Array, provider: string, repair: boolean): string
  /** What the same provider would not get back after `fromMessages`, as a JSON array. */
  lossesOfReading(request: Uint8Array, provider: string): string
  /** The messages of a reply, as a JSON array. `seed` makes the ids of calls that have none unique. */
  readReply(reply: unknown, provider: ProviderName, seed: string): Uint8Array
  /** As `trimMessages`. */
  trim<M>(messages: readonly M[], provider: ProviderName, options: TrimOptions<M>): Trimmed<M>
}

/**
 * The code that the module of the providers needs. Pages import it only when they load the module.
 * @internal
 */
export interface ProvidersCode extends ProvidersModule {
  /** Compiles the module. */
  load(source: unknown): Promise<void>
  /** Compiles the module without waiting. */
  loadSync(module: unknown): void
}
