// The files beside the ES modules. Each path is a literal, and read where it stands, so that bundlers and tracers find the file.
//
// esbuild leaves import.meta empty when it makes CommonJS of an ES module; the folder is then that of the bundle.
import { readFileSync } from 'node:fs'
import type { PackageAddresses, PackageFiles } from './package-files.js'

const { url } = import.meta

export const files: PackageFiles = {
  'peteos_session_bg.wasm': () => readFileSync(url ? new URL('./peteos_session_bg.wasm', import.meta.url) : `${__dirname}/peteos_session_bg.wasm`),
  'peteos_session_providers_bg.wasm': () => readFileSync(url ? new URL('./peteos_session_providers_bg.wasm', import.meta.url) : `${__dirname}/peteos_session_providers_bg.wasm`),
  'encodings/p50k_base.bin': () => readFileSync(url ? new URL('./encodings/p50k_base.bin', import.meta.url) : `${__dirname}/encodings/p50k_base.bin`),
  'encodings/cl100k_base.bin': () => readFileSync(url ? new URL('./encodings/cl100k_base.bin', import.meta.url) : `${__dirname}/encodings/cl100k_base.bin`),
  'encodings/o200k_base.bin': () => readFileSync(url ? new URL('./encodings/o200k_base.bin', import.meta.url) : `${__dirname}/encodings/o200k_base.bin`),
}

/** Where the files are, for bundlers that change the addresses. */
export const addresses: PackageAddresses = {
  'peteos_session_bg.wasm': () => new URL('./peteos_session_bg.wasm', import.meta.url),
  'peteos_session_providers_bg.wasm': () => new URL('./peteos_session_providers_bg.wasm', import.meta.url),
  'encodings/p50k_base.bin': () => new URL('./encodings/p50k_base.bin', import.meta.url),
  'encodings/cl100k_base.bin': () => new URL('./encodings/cl100k_base.bin', import.meta.url),
  'encodings/o200k_base.bin': () => new URL('./encodings/o200k_base.bin', import.meta.url),
}
