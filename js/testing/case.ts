import type { SessionStorage } from '../storage/storage.js'

/** The optional methods of an adapter. */
export type OptionalMethod = 'digest' | 'lock' | 'modifiedTime' | 'readMany' | 'writeSync' | 'digestSync' | 'lockSync'

/** One requirement on an adapter. */
export interface Case {
  readonly name: string
  /** The optional methods that it tests. */
  readonly needs?: readonly OptionalMethod[]
  /** `directory` does not exist yet, and no other run uses it. */
  run(storage: SessionStorage, directory: string): Promise<void>
}
