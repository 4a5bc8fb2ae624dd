// The files beside the CommonJS modules. Each path is a literal, so that bundlers and tracers find the file.
import fs = require('node:fs')
import path = require('node:path')
import type { PackageFiles } from './package-files.js' with { 'resolution-mode': 'import' }

const files: PackageFiles = {
  'peteos_session_bg.wasm': () => fs.readFileSync(path.join(__dirname, 'peteos_session_bg.wasm')),
  'peteos_session_providers_bg.wasm': () => fs.readFileSync(path.join(__dirname, 'peteos_session_providers_bg.wasm')),
  'encodings/p50k_base.bin': () => fs.readFileSync(path.join(__dirname, 'encodings/p50k_base.bin')),
  'encodings/cl100k_base.bin': () => fs.readFileSync(path.join(__dirname, 'encodings/cl100k_base.bin')),
  'encodings/o200k_base.bin': () => fs.readFileSync(path.join(__dirname, 'encodings/o200k_base.bin')),
}

export = { files }
