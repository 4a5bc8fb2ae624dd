// The files beside the ES modules. Each path is a literal, so that bundlers and tracers find the file.
import { readFileSync } from 'node:fs'
import type { PackageFiles } from './package-files.js'

export const files: PackageFiles = {
  'peteos_session_bg.wasm': () => readFileSync(new URL('./peteos_session_bg.wasm', import.meta.url)),
  'peteos_session_providers_bg.wasm': () =>
    readFileSync(new URL('./peteos_session_providers_bg.wasm', import.meta.url)),
  'encodings/p50k_base.bin': () => readFileSync(new URL('./encodings/p50k_base.bin', import.meta.url)),
  'encodings/cl100k_base.bin': () => readFileSync(new URL('./encodings/cl100k_base.bin', import.meta.url)),
  'encodings/o200k_base.bin': () => readFileSync(new URL('./encodings/o200k_base.bin', import.meta.url)),
}
