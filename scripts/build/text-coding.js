// Jest's jsdom environment hides these classes from a page's code, and Node has them.
const from =
  typeof globalThis.TextDecoder === 'function' ? globalThis : globalThis.process?.getBuiltinModule?.('node:util')
export const TextDecoder = from?.TextDecoder
export const TextEncoder = from?.TextEncoder
