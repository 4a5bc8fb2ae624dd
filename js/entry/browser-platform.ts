// In a browser, the modules and the vocabularies are fetched from beside this file.
import type { Platform } from '../wasm/platform.js'
import { vocabularyUrl } from './vocabulary-urls.js'

export function browserPlatform(): Platform {
  return {
    module: () => new URL('./peteos_session_bg.wasm', import.meta.url),
    providers: () => new URL('./peteos_session_providers_bg.wasm', import.meta.url),
    vocabularyUrl,
  }
}
