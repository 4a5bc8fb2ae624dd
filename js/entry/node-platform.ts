// In Node, the module and the vocabularies are files beside this one, read when they are needed.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Platform } from '../wasm/platform.js'

const file = (name: string) => new URL(`./${name}`, import.meta.url)

export function nodePlatform(): Platform {
  return {
    readVocabulary: (name) => readFileSync(file(`encodings/${name}.bin`)),
    fetchVocabulary: (name) => readFile(file(`encodings/${name}.bin`)),
  }
}

export function readModule(): Uint8Array {
  return readFileSync(file('peteos_session_bg.wasm'))
}
