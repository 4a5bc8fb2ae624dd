import { InvalidArgumentError, messageOf, StorageError } from './errors.js'
import { MAX_TEXT } from './json.js'
import { getPlatform, init, rust, type VocabularyName } from './runtime.js'
import type { EncodingName, ResponseLike, UrlLike } from './types.js'

/** Where a vocabulary comes from: its address, a response with it, or its bytes. */
export type VocabularySource =
  | string
  | UrlLike
  | ResponseLike
  | Promise<ResponseLike>
  | ArrayBuffer
  | Uint8Array

/**
 * The exact number of tokens of a text. Text that looks like a special token (`<|endoftext|>`) is counted as text, half
 * a surrogate pair as U+FFFD.
 *
 * @param text At most 2**27 characters.
 * @param encoding By default `cl100k_base`.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {EncodingNotLoadedError} in a browser, before `await loadEncoding(encoding)`.
 */
export function countTokens(text: string, encoding?: EncodingName): number {
  if (typeof text === 'string' && text.length > MAX_TEXT) {
    const message = `text: is longer than ${MAX_TEXT} characters; count it in parts`
    throw new InvalidArgumentError(message, { argument: 'text' })
  }
  return rust().countTokens(text, encoding)
}

/**
 * The encoding of an OpenAI model: `encodingForModel('gpt-4o')` is `'o200k_base'`.
 *
 * @throws {UnknownEncodingError} for a model that tiktoken does not know.
 */
export function encodingForModel(model: string): EncodingName {
  return rust().encodingForModel(model) as EncodingName
}

const loading = new Map<string, Promise<void>>()

/**
 * Loads the vocabulary of an encoding, so that it can count. In Node that happens by itself at first use; in a browser
 * it has to be awaited before. Does nothing when it is loaded.
 *
 * @param source Where the file `encodings/<vocabulary>.bin` of the package comes from; by default from beside the script.
 * @throws {UnknownEncodingError} lists the known encodings.
 * @throws {StorageError} when the file cannot be read.
 * @throws {InvalidArgumentError} when it is not the file of this vocabulary.
 */
export async function loadEncoding(encoding: EncodingName, source?: VocabularySource): Promise<void> {
  await init()
  if (rust().isEncodingLoaded(encoding)) return
  const name = rust().vocabularyOf(encoding) as VocabularyName
  let load = loading.get(name)
  if (load === undefined) {
    load = readVocabulary(name, source)
      .then((data) => rust().loadVocabulary(encoding, data))
      .finally(() => loading.delete(name))
    loading.set(name, load)
  }
  await load
}

async function readVocabulary(name: VocabularyName, source?: VocabularySource): Promise<Uint8Array> {
  const path = `encodings/${name}.bin`
  try {
    return await bytesOf(name, source)
  } catch (cause) {
    if (cause instanceof InvalidArgumentError) throw cause
    throw new StorageError(`could not read ${path}: ${messageOf(cause)}`, { operation: 'read', path, cause })
  }
}

async function bytesOf(name: VocabularyName, source?: VocabularySource): Promise<Uint8Array> {
  if (source === undefined) {
    const { fetchVocabulary } = getPlatform()
    if (fetchVocabulary !== undefined) return fetchVocabulary(name)
    const message = 'source: this entry point has no vocabularies of its own; call loadEncoding(name, source)'
    throw new InvalidArgumentError(message, { argument: 'source' })
  }
  if (typeof source !== 'string' && (typeof source !== 'object' || source === null)) {
    const message = 'source: expected an address, a response or bytes'
    throw new InvalidArgumentError(message, { argument: 'source' })
  }
  if (source instanceof Uint8Array) return source
  if (source instanceof ArrayBuffer) return new Uint8Array(source)
  if (typeof source === 'string' || 'href' in source) return bytesOfResponse(fetch(source as string | URL))
  return bytesOfResponse(source)
}

/**
 * The bytes of a response.
 * @internal
 */
export async function bytesOfResponse(response: ResponseLike | Promise<ResponseLike>): Promise<Uint8Array> {
  const answer = await response
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status} ${answer.statusText}`)
  return new Uint8Array(await answer.arrayBuffer())
}
