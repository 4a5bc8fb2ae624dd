// The conformance suite in browsers, which fetches the module where no other entry has it.
import { completePlatform } from '../wasm/platform.js'
import { browserPlatform } from './browser-platform.js'

export * from '../testing/index.js'

completePlatform(browserPlatform())
