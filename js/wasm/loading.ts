import type { InitInput, SyncInitInput } from '../../pkg/peteos_session.js'
import wasmInit, { initSync as wasmInitSync } from '../../pkg/peteos_session.js'
import { withCallerStack } from '../caller-stack.js'
import { NotInitializedError } from '../errors.js'
import { contentOf } from './fetching.js'
import { getPlatform } from './platform.js'
import { cannotLoad, connect, failedAtStart, isLoaded } from './runtime.js'
import type { CompiledModule, ModuleSource } from './sources.js'

let initializing: Promise<void> | undefined

/**
 * Loads the WebAssembly module. In Node it is loaded from the start, and this does nothing. In a browser, await it once
 * before the first synchronous call. Later calls wait for the same module; after a failure the next call tries again.
 *
 * @param source The source of the module. By default it is fetched from beside the script.
 * @throws {NotInitializedError} if the module cannot be loaded; `cause` says why.
 */
export const init = /* @__PURE__ */ withCallerStack('init', (source?: ModuleSource): Promise<void> => {
  return ensureLoaded(source)
})

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
  } catch (cause) {
    failedAtStart(cause)
  }
}
