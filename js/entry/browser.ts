// Browsers: the module and the vocabularies are fetched by `await init()` and `await loadEncoding(name)`.
import { setPlatform } from '../wasm/platform.js'
import { browserPlatform } from './browser-platform.js'

export * from '../index.js'

setPlatform(browserPlatform())
