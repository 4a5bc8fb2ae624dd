// The default export: some bundlers give the namespace of this module no members.
import module from 'node:module'

/** @internal */
// Not by its name: bundlers warn of calls of `createRequire` that they cannot follow.
export const requireFrom = Reflect.get(module, 'createRequire') as typeof module.createRequire
