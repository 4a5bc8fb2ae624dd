import type { InitOutput } from '../../pkg/peteos_session.js'
import * as bindings from '../../pkg/peteos_session.js'
import { createError, messageOf, NotInitializedError, StorageError } from '../errors.js'
import { getPlatform, type VocabularyName } from './platform.js'

/** That of the module, once it is loaded. */
let wasmMemory: InitOutput['memory'] | undefined

/**
 * Whether the module is loaded.
 * @internal
 */
export function isLoaded(): boolean {
  return wasmMemory !== undefined
}

/**
 * Takes the module into use, when it is loaded.
 * @internal
 */
export function connect({ memory }: InitOutput): void {
  bindings.configure(createError, readVocabulary)
  wasmMemory = memory
}

/** Reads a vocabulary for Rust, where that can be done synchronously. */
function readVocabulary(name: VocabularyName): Uint8Array | undefined {
  try {
    return getPlatform().readVocabulary?.(name)
  } catch (cause) {
    const path = `encodings/${name}.bin`
    throw new StorageError(`could not read ${path}: ${messageOf(cause)}`, { operation: 'read', path, cause })
  }
}

/**
 * What Rust exports.
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
    throw new NotInitializedError('the WebAssembly module is not loaded yet; call `await init()` once before this')
  }
  return wasmMemory
}
