// Entry for browsers: `await init()` fetches the module, `await loadEncoding(name)` a vocabulary.
import { setPlatform } from '../wasm/platform.js'
import { browserPlatform } from './browser-platform.js'

export * from '../index.js'

setPlatform(browserPlatform())
