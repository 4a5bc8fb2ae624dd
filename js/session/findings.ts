import type { FindingRule, Severity } from '../generated/lists.js'

/** A fault in the files of a session, or something worth knowing about them. */
export interface Finding {
  /** What was looked for. */
  readonly rule: FindingRule
  /**
   * `error`: the file, or the session, cannot be loaded. `warning`: it is loaded, but something in it is not as it should
   * be. `info`: nothing is wrong.
   */
  readonly severity: Severity
  /** The path of the file. */
  readonly path: string
  /** The field at fault, such as `messages[3].id`; absent where it is about the file. */
  readonly field?: string
  /** The line at fault, from 1; absent where the field says enough. */
  readonly line?: number
  /** The column at fault in bytes, from 1; present where `line` is. */
  readonly column?: number
  /** What is wrong, and what to do. */
  readonly message: string
  /** Whether `Session.repair` repairs it. */
  readonly repairable: boolean
}

/** What `Session.check` has found. */
export interface SessionCheck {
  /** There is no error and no warning. */
  readonly ok: boolean
  /**
   * Those of `session.json` first, then those of the contexts by their names, then those of other files. Of one rule and
   * file no more than a hundred are listed; the last says how many there are beyond.
   */
  readonly findings: readonly Finding[]
}

/** Something that `Session.repair` has done. */
export interface RepairAction {
  /** The rule of the finding that was repaired. */
  readonly rule: FindingRule
  /** The path of the file that was changed, made or removed. */
  readonly path: string
  /** What was done. */
  readonly message: string
  /** The path of the copy of the file as it was before; absent where there was no file, or nothing in it to keep. */
  readonly copy?: string
}

/** What `Session.repair` has done, and what is left. */
export interface SessionRepair {
  /** In the order in which it was done; empty if nothing could be repaired. */
  readonly actions: readonly RepairAction[]
  /** The session as it is now. */
  readonly check: SessionCheck
}
