// Entry without a module, for libraries: `await init(source)` must be given one.
export * from '../index.js'
