// Entry for Cloudflare Workers, which compile modules only when they are deployed.

import * as providersCode from '../providers/bindings.js'
import { loadAtStart } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import module from './peteos_session_bg.wasm'
import providers from './peteos_session_providers_bg.wasm'

export * from '../index.js'

completePlatform({ module: () => module, providers: () => providers, providersCode })
loadAtStart(() => module)
