declare module 'virtual:wasm-base64/*' {
  const base64: string
  export default base64
}
