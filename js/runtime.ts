import type { InitInput, InitOutput } from '../pkg/peteos_session.js'
import wasmInit, * as bindings from '../pkg/peteos_session.js'
import { createError, messageOf, NotInitializedError, StorageError } from './errors.js'
import { MemoryStorage } from './storage/memory.js'
import type { SessionStorage } from './storage/storage.js'
import type { CompiledModule, ResponseLike, UrlLike } from './types.js'

/** The files that vocabularies are in, without their extension. */
export type VocabularyName = 'r50k_base' | 'p50k_base' | 'cl100k_base' | 'o200k_base'

/** Where the WebAssembly module comes from: its address, a response with it, its bytes, or the compiled module. */
export type ModuleSource =
  | string
  | UrlLike
  | ResponseLike
  | Promise<ResponseLike>
  | ArrayBuffer
  | ArrayBufferView
  | CompiledModule

/**
 * What an entry point knows of where it runs.
 * @internal
 */
export interface Platform {
  /** The storage of sessions that are given none; by default one in memory. */
  readonly storage?: SessionStorage
  /** The module that `init()` without an argument loads. */
  module?(): ModuleSource
  /** The contents of a vocabulary file, where it can be read synchronously. */
  readVocabulary?(name: VocabularyName): Uint8Array
  /** Reads a vocabulary file. */
  fetchVocabulary?(name: VocabularyName): Promise<Uint8Array>
}

let platform: Platform = {}
/** Made when it is first asked for, because the class imports this module. */
let memoryStorage: MemoryStorage | undefined
/** That of the module, once it is loaded. */
let wasmMemory: InitOutput['memory'] | undefined
let initializing: Promise<void> | undefined

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
export function getPlatform(): Platform & { readonly storage: SessionStorage } {
  memoryStorage ??= new MemoryStorage()
  return { storage: memoryStorage, ...platform }
}

/**
 * Loads the WebAssembly module. In Node it is there from the start, and this does nothing; in a browser it has to be
 * awaited once before the first synchronous call. Calls after the first wait for the same module; after a failure the
 * next call tries again.
 *
 * @param source Where the module comes from; by default the file of the package, beside the script.
 * @throws {NotInitializedError} when the module cannot be loaded; `cause` says why.
 */
export async function init(source?: ModuleSource): Promise<void> {
  if (wasmMemory !== undefined) return
  initializing ??= load(source).finally(() => {
    initializing = undefined
  })
  await initializing
}

async function load(source = platform.module?.()): Promise<void> {
  if (source === undefined) {
    throw new NotInitializedError('this entry point has no module of its own; call init(source)')
  }
  try {
    connect(await wasmInit({ module_or_path: source as InitInput }))
  } catch (cause) {
    throw new NotInitializedError(`the WebAssembly module could not be loaded: ${messageOf(cause)}`, { cause })
  }
}

/**
 * Loads the module without waiting.
 * @internal
 */
export function initSync(module: Uint8Array): void {
  if (wasmMemory !== undefined) return
  connect(bindings.initSync({ module: module as Uint8Array<ArrayBuffer> }))
}

function connect({ memory }: InitOutput): void {
  bindings.configure(createError, readVocabulary)
  wasmMemory = memory
}

/** Reads a vocabulary for Rust, where that can be done synchronously. */
function readVocabulary(name: VocabularyName): Uint8Array | undefined {
  try {
    return platform.readVocabulary?.(name)
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
