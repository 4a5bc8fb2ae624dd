// What bundlers make of an import of `peteos-session/peteos_session_bg.wasm`: the compiled module, for `init`.
import type { CompiledModule } from '../esm/wasm/sources.js'

declare const module: CompiledModule
export default module
