// For libraries, and wherever the module comes from elsewhere: `await init(source)` has to be given it.
export * from '../index.js'
