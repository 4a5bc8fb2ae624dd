import { memory, rust } from './runtime.js'

const encoder = new TextEncoder()
/** A view of the module's memory, whose buffer is replaced whenever it grows. */
let bytes = new Uint8Array()

/**
 * Writes a text as UTF-8 into the buffer that Rust keeps for texts that it only reads, and returns its length in bytes.
 * The function that reads it must be called next.
 *
 * @throws {MemoryLimitError} if there is not enough memory for the text.
 * @internal
 */
export function passText(text: string): number {
  // Most text is ASCII. In other text each UTF-16 code unit takes at most three bytes.
  const { read, written } = encoder.encodeInto(text, bufferFor(text.length))
  if (read === text.length) return written
  const rest = text.slice(read)
  return written + encoder.encodeInto(rest, bufferFor(written + 3 * rest.length).subarray(written)).written
}

function bufferFor(length: number): Uint8Array<ArrayBuffer> {
  const start = rust().textBuffer(length)
  const { buffer } = memory()
  if (bytes.buffer !== buffer) bytes = new Uint8Array(buffer)
  return bytes.subarray(start, start + length)
}
