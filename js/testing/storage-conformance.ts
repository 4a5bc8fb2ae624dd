import { checkStorage, type SessionStorage } from '../storage/storage.js'
import { ensureLoaded } from '../wasm/loading.js'
import { FILE_CASES } from './file-cases.js'
import { LOCK_CASES } from './lock-cases.js'
import { SESSION_CASES } from './session-cases.js'

/** Whether an adapter passed a case, or lacks the optional methods that the case tests. */
export type ConformanceResult = 'passed' | 'not offered'

/** One requirement on storage adapters. */
export interface ConformanceCase {
  /** The requirement, as a title for a test. */
  readonly name: string
  /** Rejects with a `ConformanceError`, or with the error that the adapter threw. */
  run(): Promise<ConformanceResult>
}

/**
 * Test cases for a storage adapter, for the test runner of your choice:
 *
 * ```js
 * for (const { name, run } of storageConformance(() => new MyStorage())) test(name, run)
 * ```
 *
 * @param makeStorage Creates an adapter for each case. The adapters may share their files: each case uses a directory of
 * its own with a random name directly below the root, and does not remove it.
 */
export function storageConformance(makeStorage: () => SessionStorage | Promise<SessionStorage>): ConformanceCase[] {
  return [...FILE_CASES, ...LOCK_CASES, ...SESSION_CASES].map(({ name, needs = [], run }) => ({
    name,
    async run() {
      await ensureLoaded()
      const storage = checkStorage(await makeStorage())
      if (needs.some((method) => typeof storage[method] !== 'function')) return 'not offered'
      await run(storage, `conformance-${crypto.randomUUID()}`)
      return 'passed'
    },
  }))
}
