export { ConformanceError } from './expect.js'
export { type ConformanceCase, type ConformanceResult, storageConformance } from './storage-conformance.js'
