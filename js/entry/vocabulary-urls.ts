import type { VocabularyName } from '../wasm/platform.js'

/** The URLs must be literal, so that bundlers recognise them. */
const URLS: Readonly<Record<VocabularyName, () => URL>> = {
  p50k_base: () => new URL('./encodings/p50k_base.bin', import.meta.url),
  cl100k_base: () => new URL('./encodings/cl100k_base.bin', import.meta.url),
  o200k_base: () => new URL('./encodings/o200k_base.bin', import.meta.url),
}

export const vocabularyUrl = (name: VocabularyName): URL => URLS[name]()
