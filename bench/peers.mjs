// Token counters for JavaScript, each used in the way that its documentation calls the fastest synchronous one.
import { readFile } from 'node:fs/promises'

/** A name, and a function that returns the counter for an encoding. The first is ours. */
export const COUNTERS = {
  'peteos-session': async (encoding) => {
    const { countTokens } = await import('../dist/index.mjs')
    return (text) => countTokens(text, encoding)
  },
  hypertok: async (encoding) => {
    const { fromBytes } = await import('hypertok')
    const { vocabulary } = await import(`@hypertok/vocab-${encoding.replace('_base', '')}`)
    const tokenizer = await fromBytes(await readFile(vocabulary), { tier: 'single' })
    return (text) => tokenizer.encodeSync(text).length
  },
  'gpt-tokenizer': async (encoding) => {
    const { countTokens } = await import(`gpt-tokenizer/encoding/${encoding}`)
    const asText = { disallowedSpecial: new Set() }
    return (text) => countTokens(text, asText)
  },
  'ai-tokenizer': async (encoding) => {
    const { Tokenizer } = await import('ai-tokenizer')
    const tokenizer = new Tokenizer(await import(`ai-tokenizer/encoding/${encoding}`))
    return (text) => tokenizer.count(text)
  },
  tiktoken: async (encoding) => {
    const { get_encoding } = await import('tiktoken')
    const tokenizer = get_encoding(encoding)
    return (text) => tokenizer.encode_ordinary(text).length
  },
  'js-tiktoken': async (encoding) => {
    const { getEncoding } = await import('js-tiktoken')
    const tokenizer = getEncoding(encoding)
    return (text) => tokenizer.encode(text, [], []).length
  },
}

export const OURS = 'peteos-session'
/** Built from tiktoken's own Rust code: its counts are the reference. */
export const ORACLE = 'tiktoken'
export const ENCODINGS = ['cl100k_base', 'o200k_base']
