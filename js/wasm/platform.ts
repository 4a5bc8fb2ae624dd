import type { ModuleSource } from './sources.js'

/** The files that vocabularies are in, without their extension. */
export type VocabularyName = 'r50k_base' | 'p50k_base' | 'cl100k_base' | 'o200k_base'

/**
 * What an entry point knows of where it runs.
 * @internal
 */
export interface Platform {
  /** The module that `init()` without an argument loads. */
  module?(): ModuleSource
  /** The contents of a vocabulary file, where it can be read synchronously. */
  readVocabulary?(name: VocabularyName): Uint8Array
  /** Reads a vocabulary file. */
  fetchVocabulary?(name: VocabularyName): Promise<Uint8Array>
}

let platform: Platform = {}

/** @internal */
export function setPlatform(value: Platform): void {
  platform = { ...platform, ...value }
}

/**
 * Sets what no other entry point has set: one that serves anywhere knows less than one that was made for the place.
 * @internal
 */
export function completePlatform(value: Platform): void {
  platform = { ...value, ...platform }
}

/** @internal */
export function getPlatform(): Platform {
  return platform
}
