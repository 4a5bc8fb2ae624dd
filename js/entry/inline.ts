// Entry for any platform: the module is part of this file, for bundles that are moved away from the package's files.
import base64 from 'virtual:wasm-base64'
import { initSync } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import { fetchVocabulary } from './vocabulary-urls.js'

export * from '../index.js'

const bytes = () => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

completePlatform({ module: bytes, fetchVocabulary })
try {
  initSync(bytes())
} catch {
  // Some browsers compile a module of this size only asynchronously, as `await init()` does.
}
