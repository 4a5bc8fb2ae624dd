// In Node, the modules and the vocabularies are files beside this one, read when they are needed.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import * as providersCode from '../providers/bindings.js'
import type { Platform } from '../wasm/platform.js'

const file = (name: string) => new URL(`./${name}`, import.meta.url)

export function nodePlatform(): Platform {
  return {
    providers: () => readFileSync(file('peteos_session_providers_bg.wasm')),
    providersCode,
    readVocabulary: (name) => readFileSync(file(`encodings/${name}.bin`)),
    fetchVocabulary: (name) => readFile(file(`encodings/${name}.bin`)),
  }
}

export function readModule(): Uint8Array {
  return readFileSync(file('peteos_session_bg.wasm'))
}
