import { checkStorage, type SessionStorage } from '../storage/storage.js'
import { ensureLoaded } from '../wasm/loading.js'
import { FILE_CASES } from './file-cases.js'
import { LOCK_CASES } from './lock-cases.js'
import { SESSION_CASES } from './session-cases.js'

/** Whether an adapter passed a case, or has not the optional methods that it is about. */
export type ConformanceResult = 'passed' | 'not offered'

/** One thing that a storage adapter has to do. */
export interface ConformanceCase {
  /** Says what the adapter does when it passes. */
  readonly name: string
  /** Rejects with what is wrong: a `ConformanceError`, or what the adapter threw. */
  run(): Promise<ConformanceResult>
}

/**
 * What every storage adapter has to do, for the test runner of your choice:
 *
 * ```js
 * for (const { name, run } of storageConformance(() => new MyStorage())) test(name, run)
 * ```
 *
 * @param makeStorage Makes the adapter, anew for each case. All may share their files: each case works in a directory of
 * its own, with a random name directly below the root, that it leaves behind.
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
