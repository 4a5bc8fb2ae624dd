// The browser storages. They are not part of the main entry, which compilers and bundlers resolve by different conditions.
export { IndexedDBStorage } from '../storage/browser/indexeddb.js'
export { OPFSStorage } from '../storage/browser/opfs.js'
export type { BrowserStorageOptions } from '../storage/browser/options.js'
export type { SessionStorage } from '../storage/storage.js'
