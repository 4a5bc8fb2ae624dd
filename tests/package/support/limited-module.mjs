// The WebAssembly module with a memory that cannot grow beyond a limit, as in an engine that has no more.
import { readFileSync } from 'node:fs'

const MEMORY_SECTION = 5
const PAGE = 65_536

/** The bytes of the module, changed so that its memory has at most `bytes`. */
export function limitedModule(bytes) {
  const module = readFileSync(new URL('peteos_session_bg.wasm', import.meta.resolve('peteos-session/slim')))
  for (let at = 8; at < module.length; ) {
    const id = module[at++]
    const size = readNumber(module, at)
    const start = size.end
    at = start + size.value
    if (id !== MEMORY_SECTION) continue
    // One memory: its flags, and the pages that it begins with.
    const pages = readNumber(module, start + 2)
    const section = [1, 1, ...number(pages.value), ...number(Math.floor(bytes / PAGE))]
    return Buffer.concat([
      module.subarray(0, start - (size.end - size.start) - 1),
      Buffer.from([MEMORY_SECTION, ...number(section.length), ...section]),
      module.subarray(at),
    ])
  }
  throw new Error('the module has no memory')
}

/** Reads an unsigned number in LEB128. */
function readNumber(bytes, start) {
  let value = 0
  let end = start
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[end++]
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) return { value: value >>> 0, start, end }
  }
}

function number(value) {
  const bytes = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest & 0x7f) | 0x80)
  }
}
