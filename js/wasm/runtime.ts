import type { InitOutput } from '../../pkg/peteos_session.js'
import * as bindings from '../../pkg/peteos_session.js'
import { createError, messageOf, NotInitializedError, StorageError } from '../errors.js'
import { getPlatform, type VocabularyName } from './platform.js'

/** The memory of the module, once it is loaded. */
let wasmMemory: InitOutput['memory'] | undefined

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

/** Reads a vocabulary for Rust, on platforms that can do so synchronously. */
function readVocabulary(name: VocabularyName): Uint8Array | undefined {
  try {
    return getPlatform().readVocabulary?.(name)
  } catch (cause) {
    const path = `encodings/${name}.bin`
    throw new StorageError(`could not read ${path}: ${messageOf(cause)}`, { operation: 'read', path, cause })
  }
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
    throw new NotInitializedError('the WebAssembly module is not loaded yet; call `await init()` first')
  }
  return wasmMemory
}
