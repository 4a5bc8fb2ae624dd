import type { FindingRule, Severity } from '../generated/lists.js'

/** A problem, or a remark, about the files of a session. */
export interface Finding {
  /** The rule that reported it. */
  readonly rule: FindingRule
  /**
   * `error`: the file or the session cannot be loaded. `warning`: it can be loaded, but something in it is wrong. `info`:
   * nothing is wrong.
   */
  readonly severity: Severity
  /** The path of the file. */
  readonly path: string
  /** The field at fault, such as `messages[3].id`; absent if the whole file is. */
  readonly field?: string
  /** The line at fault, from 1; absent if the field alone locates the fault. */
  readonly line?: number
  /** The column at fault in bytes, from 1; present if `line` is. */
  readonly column?: number
  /** What is wrong, and what to do. */
  readonly message: string
  /** Whether `Session.repair` repairs it. */
  readonly repairable: boolean
}

/** The result of `Session.check`. */
export interface SessionCheck {
  /** Whether there are no errors and no warnings. */
  readonly ok: boolean
  /**
   * The findings about `session.json`, then those about the contexts in the order of their names, then those about other
   * files. For each rule and file at most a hundred are listed; the last one states how many more there are.
   */
  readonly findings: readonly Finding[]
}

/** A directory in which `Session.checkAll` has found something. */
export interface CheckedSession extends SessionCheck {
  /** The name of the directory. */
  readonly uuid: string
}

/** The result of `Session.checkAll`. */
export interface SessionsCheck {
  /** Whether there are no errors and no warnings in any session. */
  readonly ok: boolean
  /** How many sessions were checked. */
  readonly checked: number
  /** Those with findings, and directories without a session in which there are leftovers, in the order of their names. */
  readonly sessions: readonly CheckedSession[]
}

/** A change that `Session.repair` made. */
export interface RepairAction {
  /** The rule of the finding that was repaired. */
  readonly rule: FindingRule
  /** The path of the file that was changed, created or removed. */
  readonly path: string
  /** What was changed. */
  readonly message: string
  /** The path of the copy of the file before the change; absent if there was no file, or nothing in it to keep. */
  readonly copy?: string
}

/** The result of `Session.repair`. */
export interface SessionRepair {
  /** The changes in the order in which they were made; empty if nothing could be repaired. */
  readonly actions: readonly RepairAction[]
  /** The check of the session after the repair. */
  readonly check: SessionCheck
}
