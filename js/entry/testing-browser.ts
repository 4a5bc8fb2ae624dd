// The conformance suite in browsers. It fetches the module unless another entry did.
import { completePlatform } from '../wasm/platform.js'
import { browserPlatform } from './browser-platform.js'

export * from '../testing/index.js'

completePlatform(browserPlatform())
