// Browsers: the module and the vocabularies are fetched from beside this file, by `await init()` and
// `await loadEncoding(name)`.
import { setPlatform } from '../runtime.js'
import { fetchVocabulary } from './vocabulary-urls.js'

export * from '../index.js'

setPlatform({
  module: () => new URL('./peteos_session_bg.wasm', import.meta.url),
  fetchVocabulary,
})
