import type { SessionStorage } from '../storage/storage.js'

/** The optional methods of an adapter. */
export type OptionalMethod = 'digest' | 'lock' | 'modifiedTime' | 'writeSync' | 'digestSync' | 'lockSync'

/** One thing that an adapter has to do. */
export interface Case {
  readonly name: string
  /** The optional methods that it is about. */
  readonly needs?: readonly OptionalMethod[]
  /** `directory` exists for this run alone, and is not there yet. */
  run(storage: SessionStorage, directory: string): Promise<void>
}
