// Entry for Cloudflare Workers, which compile modules only when they are deployed.

import { loadAtStart } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import module from './peteos_session_bg.wasm'

export * from '../index.js'

completePlatform({ module: () => module })
loadAtStart(() => module)
