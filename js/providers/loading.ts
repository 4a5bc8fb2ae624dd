import { withCallerStack } from '../caller-stack.js'
import { messageOf, NotInitializedError } from '../errors.js'
import { contentOf } from '../wasm/fetching.js'
import { getPlatform } from '../wasm/platform.js'
import type { ModuleSource } from '../wasm/sources.js'
import { importCode } from './import-code.js'
import type { ProvidersCode, ProvidersModule } from './module.js'

/** The module, once it is loaded. */
let loaded: ProvidersModule | undefined
let loading: Promise<void> | undefined
/** Why the module could not be loaded. */
let failure: { readonly cause: unknown } | undefined

/**
 * Loads the module of the providers, which `check`, `toMessages` and `fromMessages` need. `init()` loads it too, unless it is
 * called with `providers: false`. In Node and with the entry `./inline` the first of these calls loads it. Later calls wait
 * for the same module; after a failure the next call tries again.
 *
 * @example
 * ```ts
 * import { fromMessages, init, loadProviders } from 'peteos-session'
 *
 * await init({ providers: false })
 * await loadProviders()
 * console.log(fromMessages([{ role: 'user', content: 'Hello' }], 'openai-chat').messageCount)
 * ```
 *
 * @param source The source of the module. By default it is fetched from beside the script.
 * @throws {NotInitializedError} if the module cannot be loaded; `cause` says why.
 */
export const loadProviders = /* @__PURE__ */ withCallerStack(
  'loadProviders',
  async (source?: ModuleSource): Promise<void> => {
    if (loaded !== undefined) return
    loading ??= load(source ?? getPlatform().providers?.()).finally(() => {
      loading = undefined
    })
    await loading
  },
)

/**
 * Loads the module of the providers if this platform says where it is. A failure becomes the cause of the error that a
 * function of it then throws: who uses none of them must not fail.
 * @internal
 */
export async function loadOwnProviders(): Promise<void> {
  if (getPlatform().providers !== undefined) await loadProviders().catch(() => {})
}

/**
 * The module of the providers. Platforms that can do so load it here.
 * @internal
 */
export function providers(): ProvidersModule {
  loaded ??= loadNow()
  if (loaded === undefined) {
    const reason = failure === undefined ? 'is not loaded' : `could not be loaded (${messageOf(failure.cause)})`
    throw new NotInitializedError(
      `the module of the providers ${reason}; call \`await loadProviders()\` first`,
      failure,
    )
  }
  return loaded
}

async function load(source: ModuleSource | undefined): Promise<void> {
  if (source === undefined) {
    throw new NotInitializedError('this entry point has no module of the providers; call loadProviders(source)')
  }
  try {
    const code: ProvidersCode = getPlatform().providersCode ?? (await importCode())
    await code.load(await contentOf(source))
    loaded = code
  } catch (cause) {
    failure = { cause }
    throw new NotInitializedError(`the module of the providers could not be loaded: ${messageOf(cause)}`, { cause })
  }
}

function loadNow(): ProvidersModule | undefined {
  const { providersCode, providers } = getPlatform()
  if (providersCode === undefined || providers === undefined) return undefined
  try {
    providersCode.loadSync(providers())
    return providersCode
  } catch (cause) {
    // Some browsers compile a module of this size only asynchronously.
    failure = { cause }
    return undefined
  }
}
