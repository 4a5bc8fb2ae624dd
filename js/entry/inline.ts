// Entry for any platform: the modules are part of this file, for bundles that are moved away from the package's files.
import moduleText from 'virtual:wasm-base64/peteos_session'
import providersText from 'virtual:wasm-base64/peteos_session_providers'
import * as providersCode from '../providers/bindings.js'
import { initSync } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import { fetchVocabulary } from './vocabulary-urls.js'

export * from '../index.js'

const bytes = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

completePlatform({
  module: () => bytes(moduleText),
  providers: () => bytes(providersText),
  providersCode,
  fetchVocabulary,
})
try {
  initSync(bytes(moduleText))
} catch {
  // Some browsers compile a module of this size only asynchronously, as `await init()` does.
}
