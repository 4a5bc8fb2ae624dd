// In Node the code is there from the start: bundlers would make a file of its own of it.
import * as code from './bindings.js'
import type { ProvidersCode } from './module.js'

export const importCode = async (): Promise<ProvidersCode> => code
