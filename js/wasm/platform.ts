import type { ProvidersCode } from '../providers/module.js'
import type { ModuleSource } from './sources.js'

/** The names of the vocabulary files, without extension. */
export type VocabularyName = 'p50k_base' | 'cl100k_base' | 'o200k_base'

/**
 * What an entry point knows about the platform that it runs on.
 * @internal
 */
export interface Platform {
  /** The module that `init()` without an argument loads. */
  module?(): ModuleSource
  /** The module of the providers; with `providersCode`, its bytes or the compiled module. */
  providers?(): ModuleSource
  /** The code for the module of the providers, on platforms that load it at the first use. */
  providersCode?: ProvidersCode
  /** Reads a vocabulary file synchronously, on platforms that can. */
  readVocabulary?(name: VocabularyName): Uint8Array
  /** The address of a vocabulary file. */
  vocabularyUrl?(name: VocabularyName): URL
  /** Reads the file of a `file:` address, which `fetch` refuses. */
  readFile?(address: URL): Uint8Array
}

let platform: Platform = {}

/** @internal */
export function setPlatform(value: Platform): void {
  platform = { ...platform, ...value }
}

/**
 * Sets what no other entry point has set. An entry point for one platform takes precedence over one that works anywhere.
 * @internal
 */
export function completePlatform(value: Platform): void {
  platform = { ...value, ...platform }
}

/** @internal */
export function getPlatform(): Platform {
  return platform
}
