import type { InitInput, SyncInitInput } from '../../pkg/peteos_session.js'
import wasmInit, { initSync as wasmInitSync } from '../../pkg/peteos_session.js'
import { withCallerStack } from '../caller-stack.js'
import { NotInitializedError } from '../errors.js'
import { readOptions } from '../read-options.js'
import { contentOf } from './fetching.js'
import { applyMaxMemory, setMaxMemory } from './memory.js'
import { getPlatform } from './platform.js'
import { cannotLoad, connect, failedAtStart, isLoaded } from './runtime.js'
import type { CompiledModule, ModuleSource } from './sources.js'

let initializing: Promise<void> | undefined

/** Options of {@link init}. */
export interface InitOptions {
  /** The source of the module. By default it is fetched from beside the script. */
  module?: ModuleSource
  /**
   * The memory that sessions, contexts and vocabularies may take together, in bytes, at most 4 GiB. Operations that need more
   * throw a `MemoryLimitError`. Each call can set another limit, in Node as well. By default 3 GiB.
   */
  maxMemory?: number
}

const INIT_OPTIONS = ['module', 'maxMemory'] as const

/**
 * Loads the WebAssembly module and sets its options. In Node the module is loaded from the start. In a browser, await this once
 * before the first synchronous call. Later calls wait for the same module; after a failure the next call tries again.
 *
 * @param options The options, or the source of the module.
 * @throws {InvalidArgumentError} if an option is invalid.
 * @throws {NotInitializedError} if the module cannot be loaded; `cause` says why.
 */
export const init = /* @__PURE__ */ withCallerStack(
  'init',
  async (options?: ModuleSource | InitOptions): Promise<void> => {
    const { module, maxMemory } = isOptions(options) ? readOptions(options, INIT_OPTIONS, 'init') : { module: options }
    if (maxMemory !== undefined) setMaxMemory(maxMemory)
    await ensureLoaded(module)
  },
)

/** Whether a value is an object of options. The sources of a module that are plain objects look like a URL or a response. */
function isOptions(value: unknown): value is InitOptions {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && !('href' in value) && !('arrayBuffer' in value)
}

/**
 * Loads the module unless {@link init} did.
 * @internal
 */
export async function ensureLoaded(source?: ModuleSource): Promise<void> {
  if (isLoaded()) return
  initializing ??= load(source).finally(() => {
    initializing = undefined
  })
  await initializing
}

async function load(source = getPlatform().module?.()): Promise<void> {
  if (source === undefined) {
    throw new NotInitializedError('this entry point has no module of its own; call init(source)')
  }
  try {
    connect(await wasmInit({ module_or_path: (await contentOf(source)) as InitInput }))
    applyMaxMemory()
  } catch (cause) {
    throw cannotLoad(cause)
  }
}

/**
 * Loads the module without waiting, while an entry point is imported. A failure does not stop the import: `init` may be
 * given another module. The first use without one throws.
 * @internal
 */
export function loadAtStart(read: () => Uint8Array | CompiledModule): void {
  if (isLoaded()) return
  try {
    connect(wasmInitSync({ module: read() as SyncInitInput }))
    applyMaxMemory()
  } catch (cause) {
    failedAtStart(cause)
  }
}
