// Files that the build leaves as imports in dist/.
declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}
declare module '*.wasm?module' {
  const module: WebAssembly.Module
  export default module
}
declare module '*/embedded/peteos_session_bg.js' {}
declare module '*/embedded/peteos_session_providers_bg.js' {}
