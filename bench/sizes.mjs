// The bytes to transfer before anything can be counted: uncompressed, and compressed as a server would.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const require = createRequire(import.meta.url)
const dist = new URL('../dist/', import.meta.url)

export async function sizes() {
  const files = {
    'peteos-session: WebAssembly': new URL('peteos_session_bg.wasm', dist),
    'peteos-session: WebAssembly of the providers': new URL('peteos_session_providers_bg.wasm', dist),
    'peteos-session: cl100k_base': new URL('encodings/cl100k_base.bin', dist),
    'peteos-session: o200k_base': new URL('encodings/o200k_base.bin', dist),
    'hypertok: cl100k_base': (await import('@hypertok/vocab-cl100k')).vocabulary,
    'hypertok: o200k_base': (await import('@hypertok/vocab-o200k')).vocabulary,
    'gpt-tokenizer: cl100k_base': require.resolve('gpt-tokenizer/cjs/bpeRanks/cl100k_base'),
    'gpt-tokenizer: o200k_base': require.resolve('gpt-tokenizer/cjs/bpeRanks/o200k_base'),
  }
  return Promise.all(
    Object.entries(files).map(async ([name, file]) => {
      const data = await readFile(file)
      const gzip = gzipSync(data, { level: 9 }).length
      const brotli = brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length
      return { name, bytes: data.length, gzip, brotli }
    }),
  )
}
