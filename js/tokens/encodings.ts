import { withCallerStack } from '../caller-stack.js'
import { InvalidArgumentError, messageOf, StorageError } from '../errors.js'
import type { EncodingName } from '../generated/lists.js'
import { readOptions } from '../read-options.js'
import { embeddedFile } from '../wasm/embedded.js'
import { contentOf } from '../wasm/fetching.js'
import { MAX_TEXT } from '../wasm/json-text.js'
import { ensureLoaded } from '../wasm/loading.js'
import { ensureMemory } from '../wasm/memory.js'
import { getPlatform, type VocabularyName } from '../wasm/platform.js'
import { rust } from '../wasm/runtime.js'
import type { ResponseLike, UrlLike } from '../wasm/sources.js'
import { passText } from '../wasm/text.js'

/** The source of a vocabulary: its URL, a response with it, or its bytes. */
export type VocabularySource = string | UrlLike | ResponseLike | Promise<ResponseLike> | ArrayBuffer | Uint8Array

/** Options of {@link countTokens}. */
export interface CountOptions {
  /** The number of tokens after which counting stops, which saves time for long texts. By default there is no limit. */
  limit?: number
}

const COUNT_OPTIONS = ['limit'] as const

/** The longest token in bytes of UTF-8: a vocabulary file stores the length in one byte. */
const LONGEST_TOKEN = 255

/**
 * Counts the tokens of a text exactly, up to `options.limit`. Text that looks like a special token (`<|endoftext|>`) is
 * counted as text, and a lone surrogate as U+FFFD.
 *
 * @example
 * ```ts
 * import { countTokens } from 'peteos-session'
 *
 * console.log(countTokens('Hello, world', 'o200k_base'))
 * ```
 *
 * @param text At most 2**27 characters.
 * @param encoding By default `cl100k_base`.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
 */
export const countTokens = /* @__PURE__ */ withCallerStack(
  'countTokens',
  (text: string, encoding?: EncodingName, options: CountOptions = {}): number => {
    const number = numberOf(encoding)
    const { limit } = readOptions(options, COUNT_OPTIONS, 'countTokens')
    // A text longer than this has more tokens than the limit, even if all of them are of the greatest length.
    const enough = typeof limit === 'number' ? (limit + 1) * LONGEST_TOKEN : MAX_TEXT
    const bytes = passCounted(typeof text === 'string' && text.length > enough ? text.slice(0, enough) : text)
    return rust().countTokens(bytes, number, limit)
  },
)

/**
 * Returns the ids of the tokens of a text, which `decode` reverses. Text that looks like a special token is text.
 *
 * @param text At most 2**27 characters. A lone surrogate is replaced by U+FFFD.
 * @param encoding By default `cl100k_base`.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
 */
export const encode = /* @__PURE__ */ withCallerStack('encode', (text: string, encoding?: EncodingName): number[] => {
  const number = numberOf(encoding)
  return Array.from(rust().encode(passCounted(text), number))
})

/**
 * Returns the text of tokens, given by their ids. Special tokens become their names, such as `<|endoftext|>`. Bytes that are
 * not valid UTF-8, such as those of an incomplete character, become U+FFFD.
 *
 * @param tokens An array or a typed array of integers.
 * @param encoding By default `cl100k_base`.
 * @throws {InvalidArgumentError} if an id is not a token of the encoding; the message names the first one.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
 */
export const decode = /* @__PURE__ */ withCallerStack(
  'decode',
  (tokens: ArrayLike<number>, encoding?: EncodingName): string => {
    const number = numberOf(encoding)
    const ids = tokenIds(tokens)
    ensureMemory(ids.length)
    return rust().decode(ids, number)
  },
)

function passCounted(text: string): number {
  if (typeof text !== 'string') rust().expectString(text, 'text')
  if (text.length > MAX_TEXT) {
    const message = `text: is longer than ${MAX_TEXT} characters; count it in parts`
    throw new InvalidArgumentError(message, { argument: 'text' })
  }
  return passText(text)
}

function tokenIds(tokens: ArrayLike<number>): Uint32Array {
  let wrong: number | undefined
  try {
    if (Array.isArray(tokens) || ArrayBuffer.isView(tokens)) {
      const ids = new Uint32Array(tokens.length)
      for (let index = 0; index < ids.length && wrong === undefined; index++) {
        const id: unknown = tokens[index]
        if (typeof id === 'number') ids[index] = id
        if (ids[index] !== id) wrong = index
      }
      if (wrong === undefined) return ids
    }
  } catch (cause) {
    throw new InvalidArgumentError('tokens: could not be read', { argument: 'tokens', cause })
  }
  const argument = wrong === undefined ? 'tokens' : `tokens[${wrong}]`
  const expected = wrong === undefined ? 'an array of token ids' : 'the id of a token, a non-negative integer'
  throw new InvalidArgumentError(`${argument}: expected ${expected}`, { argument })
}

/** By name, so that it crosses to Rust once. */
const numbers = new Map<EncodingName | undefined, number>()

function numberOf(encoding: EncodingName | undefined): number {
  let number = numbers.get(encoding)
  if (number === undefined) {
    number = rust().encodingNumber(encoding)
    numbers.set(encoding, number)
  }
  return number
}

/**
 * Returns the encoding of an OpenAI model: `encodingForModel('gpt-4o')` is `'o200k_base'`.
 *
 * @throws {UnknownEncodingError} if tiktoken does not know the model.
 */
export const encodingForModel = /* @__PURE__ */ withCallerStack('encodingForModel', (model: string): EncodingName => {
  return rust().encodingForModel(model) as EncodingName
})

/** The files that are being read, by path: encodings share them. */
const reading = new Map<string, Promise<Uint8Array>>()

/**
 * Loads the vocabulary of an encoding. Node does so automatically at first use; in a browser, await this before you count.
 * Does nothing if the vocabulary is loaded already.
 *
 * @param source The source of the file `encodings/<vocabulary>.bin` of the package. By default it is fetched from beside the
 * script.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {StorageError} if the file cannot be read.
 * @throws {InvalidArgumentError} if it is not the file of this vocabulary.
 */
export const loadEncoding = /* @__PURE__ */ withCallerStack(
  'loadEncoding',
  async (encoding: EncodingName, source?: VocabularySource): Promise<void> => {
    await ensureLoaded()
    if (rust().isEncodingLoaded(encoding)) return
    const name = rust().vocabularyOf(encoding) as VocabularyName
    let read = reading.get(name)
    if (read === undefined) {
      read = readVocabulary(name, source).finally(() => reading.delete(name))
      reading.set(name, read)
    }
    const data = await read
    if (!rust().isEncodingLoaded(encoding)) rust().loadVocabulary(encoding, data)
  },
)

async function readVocabulary(name: VocabularyName, source?: VocabularySource): Promise<Uint8Array> {
  const path = `encodings/${name}.bin`
  try {
    return await bytesOf(name, path, source)
  } catch (cause) {
    if (cause instanceof InvalidArgumentError) throw cause
    throw new StorageError(`could not read ${path}: ${messageOf(cause)}`, { operation: 'read', path, cause })
  }
}

async function bytesOf(name: VocabularyName, path: string, source?: VocabularySource): Promise<Uint8Array> {
  if (source === undefined) {
    const { readVocabulary, vocabularyUrl } = getPlatform()
    const data = embeddedFile(path) ?? readVocabulary?.(name)
    if (data !== undefined) return data
    if (vocabularyUrl !== undefined) return bytesOf(name, path, vocabularyUrl(name))
    const message =
      'source: this entry point has no vocabularies of its own; ' +
      `import 'peteos-session/encodings/${name}', or call loadEncoding(name, source)`
    throw new InvalidArgumentError(message, { argument: 'source' })
  }
  if (typeof source !== 'string' && (typeof source !== 'object' || source === null)) {
    const message = 'source: expected a URL, a response or bytes'
    throw new InvalidArgumentError(message, { argument: 'source' })
  }
  const content = await contentOf(source)
  if (content instanceof Uint8Array) return content
  if (content instanceof ArrayBuffer) return new Uint8Array(content)
  return new Uint8Array(await (content as ResponseLike).arrayBuffer())
}
