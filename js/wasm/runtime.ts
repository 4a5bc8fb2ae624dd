import type { InitOutput } from '../../pkg/peteos_session.js'
import * as bindings from '../../pkg/peteos_session.js'
import { createError, messageOf, NotInitializedError, StorageError } from '../errors.js'
import { embeddedFile } from './embedded.js'
import { getPlatform, type VocabularyName } from './platform.js'

/** The memory of the module, once it is loaded. */
let wasmMemory: InitOutput['memory'] | undefined

/** Why an entry point could not load it. */
let failure: { readonly cause: unknown } | undefined

/**
 * Whether the module is loaded.
 * @internal
 */
export function isLoaded(): boolean {
  return wasmMemory !== undefined
}

/**
 * Connects the module after it is loaded.
 * @internal
 */
export function connect({ memory }: InitOutput): void {
  bindings.configure(createError, readVocabulary)
  wasmMemory = memory
}

/** Reads a vocabulary for Rust, if that is possible synchronously. */
function readVocabulary(name: VocabularyName): Uint8Array | undefined {
  const path = `encodings/${name}.bin`
  try {
    return embeddedFile(path) ?? getPlatform().readVocabulary?.(name)
  } catch (cause) {
    throw new StorageError(`could not read ${path}: ${messageOf(cause)}`, { operation: 'read', path, cause })
  }
}

/**
 * Remembers why an entry point could not load the module.
 * @internal
 */
export function failedAtStart(cause: unknown): void {
  failure = { cause }
}

/** @internal */
export function cannotLoad(cause: unknown): NotInitializedError {
  return new NotInitializedError(`the WebAssembly module could not be loaded: ${messageOf(cause)}`, { cause })
}

/**
 * The exports of Rust.
 * @internal
 */
export function rust(): typeof bindings {
  memory()
  return bindings
}

/**
 * The memory of Rust.
 * @internal
 */
export function memory(): { readonly buffer: ArrayBuffer } {
  if (wasmMemory === undefined) {
    if (failure !== undefined) throw cannotLoad(failure.cause)
    throw new NotInitializedError('the WebAssembly module is not loaded yet; call `await init()` first')
  }
  return wasmMemory
}
