import type { ProvidersCode } from './module.js'

/** Imports the code of the module of the providers late. The build for Node has ./import-code-node.ts in place of this file. */
export const importCode = (): Promise<ProvidersCode> => import('./bindings.js')
