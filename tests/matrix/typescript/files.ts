import { init, loadEncoding } from 'peteos-session'
import bytes from 'peteos-session/encodings/o200k_base.bin'
import module from 'peteos-session/peteos_session_bg.wasm'
import edge from 'peteos-session/peteos_session_bg.wasm?module'

export const ready = Promise.all([init(module), init(edge), loadEncoding('o200k_base', bytes)])
