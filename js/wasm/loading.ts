import type { InitInput, SyncInitInput } from '../../pkg/peteos_session.js'
import wasmInit, { initSync as wasmInitSync } from '../../pkg/peteos_session.js'
import { withCallerStack } from '../caller-stack.js'
import { NotInitializedError } from '../errors.js'
import { loadOwnProviders, loadProviders } from '../providers/loading.js'
import { readOptions } from '../read-options.js'
import { contentOf } from './fetching.js'
import { applyMaxMemory, setMaxMemory } from './memory.js'
import { getPlatform } from './platform.js'
import { cannotLoad, connect, failedAtStart, isLoaded } from './runtime.js'
import type { CompiledModule, ModuleSource } from './sources.js'

/** Options of {@link init}. */
export interface InitOptions {
  /** The source of the module. By default it is fetched from beside the script. */
  module?: ModuleSource
  /**
   * The source of the module of the providers; `false` if `loadProviders()` will load it, or nobody needs it. By default it
   * is fetched from beside the script.
   */
  providers?: ModuleSource | false
  /**
   * The memory that sessions, contexts and vocabularies may take together, in bytes, at most 4 GiB. Operations that need more
   * throw a `MemoryLimitError`. Each call can set another limit, in Node as well. By default 3 GiB.
   */
  maxMemory?: number
}

let initializing: Promise<void> | undefined

const INIT_OPTIONS = ['module', 'providers', 'maxMemory'] as const

/**
 * Loads the WebAssembly modules, both at once, and sets the limit for memory. In Node they are loaded without it. In a browser, await
 * it once before the first synchronous call. Later calls wait for the same modules; after a failure the next call tries again.
 *
 * If the module of the providers cannot be fetched from beside the script, the rest works: `check`, `toMessages` and
 * `fromMessages` then throw {@link NotInitializedError}, whose `cause` says why.
 *
 * @param options The source of the module, or the options. By default the modules are fetched from beside the script.
 * @throws {NotInitializedError} if the module, or that of the providers from a source that was given, cannot be loaded; `cause`
 * says why.
 * @throws {InvalidArgumentError} for an option that does not exist, or is invalid.
 */
export const init = /* @__PURE__ */ withCallerStack(
  'init',
  async (options?: ModuleSource | InitOptions): Promise<void> => {
    const { module, providers, maxMemory } = readInitOptions(options)
    if (maxMemory !== undefined) setMaxMemory(maxMemory)
    // Where modules are compiled without waiting, that of the providers is left to its first use.
    const isLazy = isLoaded() && getPlatform().providersCode !== undefined
    await Promise.all([
      ensureLoaded(module),
      providers === undefined ? isLazy || loadOwnProviders() : providers && loadProviders(providers),
    ])
  },
)

function readInitOptions(options: ModuleSource | InitOptions | undefined): InitOptions {
  // No source of a module is a plain object.
  const isOptions = Object.prototype.toString.call(options) === '[object Object]'
  if (isOptions) return readOptions(options as InitOptions, INIT_OPTIONS, 'init')
  return options === undefined ? {} : { module: options as ModuleSource }
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
