// The files beside the CommonJS modules. Each path is a literal, so that bundlers and tracers find the file; they follow `+`
// without knowing where `join` comes from.
import fs = require('node:fs')
import type { PackageAddresses, PackageFiles } from './package-files.js' with { 'resolution-mode': 'import' }

const files: PackageFiles = {
  'peteos_session_bg.wasm': () => fs.readFileSync(__dirname + '/peteos_session_bg.wasm'),
  'peteos_session_providers_bg.wasm': () => fs.readFileSync(__dirname + '/peteos_session_providers_bg.wasm'),
  'encodings/p50k_base.bin': () => fs.readFileSync(__dirname + '/encodings/p50k_base.bin'),
  'encodings/cl100k_base.bin': () => fs.readFileSync(__dirname + '/encodings/cl100k_base.bin'),
  'encodings/o200k_base.bin': () => fs.readFileSync(__dirname + '/encodings/o200k_base.bin'),
}

/** No bundler changes them. */
const addresses: PackageAddresses = {}

export = { files, addresses }
