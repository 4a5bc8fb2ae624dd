import { InvalidArgumentError } from '../errors.js'
import { MAX_TEXT } from '../wasm/json-text.js'
import { memory, rust } from '../wasm/runtime.js'

const encoder = new TextEncoder()
/** All of the module's memory, which is another buffer whenever it has grown. */
let bytes = new Uint8Array()

/**
 * Writes a text into the room that Rust keeps for it, as UTF-8: for texts that are only read there, which is quicker
 * than to hand them over. Gives the number of bytes.
 *
 * @internal
 */
export function passText(text: string): number {
  if (typeof text !== 'string') rust().expectText(text)
  if (text.length > MAX_TEXT) {
    const message = `text: is longer than ${MAX_TEXT} characters; count it in parts`
    throw new InvalidArgumentError(message, { argument: 'text' })
  }
  // Most text is ASCII. Where it is not, what is left takes three bytes at most for each unit of UTF-16.
  const { read, written } = encoder.encodeInto(text, roomOf(text.length))
  if (read === text.length) return written
  const rest = text.slice(read)
  return written + encoder.encodeInto(rest, roomOf(written + 3 * rest.length).subarray(written)).written
}

function roomOf(length: number): Uint8Array<ArrayBuffer> {
  const start = rust().textRoom(length) >>> 0
  const { buffer } = memory()
  if (bytes.buffer !== buffer) bytes = new Uint8Array(buffer)
  return bytes.subarray(start, start + length)
}
