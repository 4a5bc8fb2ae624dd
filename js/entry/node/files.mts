// The files beside the ES modules. Each path is a literal, so that bundlers and tracers find the file.
//
// esbuild leaves import.meta empty when it makes CommonJS of an ES module; the folder is then that of the bundle.
import type { PackageFiles } from './package-files.js'

const { url } = import.meta

export const files: PackageFiles = {
  'peteos_session_bg.wasm': () => (url ? new URL('./peteos_session_bg.wasm', import.meta.url) : `${__dirname}/peteos_session_bg.wasm`),
  'peteos_session_providers_bg.wasm': () => (url ? new URL('./peteos_session_providers_bg.wasm', import.meta.url) : `${__dirname}/peteos_session_providers_bg.wasm`),
  'encodings/p50k_base.bin': () => (url ? new URL('./encodings/p50k_base.bin', import.meta.url) : `${__dirname}/encodings/p50k_base.bin`),
  'encodings/cl100k_base.bin': () => (url ? new URL('./encodings/cl100k_base.bin', import.meta.url) : `${__dirname}/encodings/cl100k_base.bin`),
  'encodings/o200k_base.bin': () => (url ? new URL('./encodings/o200k_base.bin', import.meta.url) : `${__dirname}/encodings/o200k_base.bin`),
}
