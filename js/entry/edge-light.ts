// Entry for Vercel's edge runtime, which compiles modules only when they are deployed.

import * as providersCode from '../providers/bindings.js'
import { loadAtStart } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import module from './peteos_session_bg.wasm?module'
import providers from './peteos_session_providers_bg.wasm?module'
import { vocabularyUrl } from './vocabulary-urls.js'

export * from '../index.js'

completePlatform({ module: () => module, providers: () => providers, providersCode, vocabularyUrl })
loadAtStart(() => module)
