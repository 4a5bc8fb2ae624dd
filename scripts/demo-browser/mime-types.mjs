import { extname } from 'node:path'

/** Browsers refuse modules and WebAssembly of any other type. */
const TYPES = {
  '.bin': 'application/octet-stream',
  '.cjs': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.map': 'application/json',
  '.mjs': 'text/javascript',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
}

export function mimeType(path) {
  return TYPES[extname(path)] ?? 'application/octet-stream'
}
