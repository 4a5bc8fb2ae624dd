// Entry for React Native, whose engine cannot run the module.
import { failedAtStart } from '../wasm/runtime.js'

export * from '../index.js'

failedAtStart(
  new Error(
    'React Native has no WebAssembly: run sessions on a server or in a web view, or, if the app has an implementation of ' +
      "WebAssembly, call `await init(source)` with the bytes of 'peteos-session/peteos_session_bg.wasm'",
  ),
)
