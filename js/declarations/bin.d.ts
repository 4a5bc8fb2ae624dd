// What bundlers make of an import of `peteos-session/encodings/<name>.bin`: its bytes, for `loadEncoding`.
declare const bytes: ArrayBuffer
export default bytes
