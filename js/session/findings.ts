/** What `Session.check` looks for; the names are stable. docs/damage.md says more of each. */
export type FindingRule =
  /** There are context files, but no `session.json`. */
  | 'missing-session-file'
  /** The storage could not read the file. */
  | 'unreadable-file'
  /** The file is larger than the limit. */
  | 'file-too-large'
  /** The file holds nothing. */
  | 'empty-file'
  /** NUL bytes stand where text should be. */
  | 'nul-bytes'
  /** The text ends too early. */
  | 'torn-file'
  /** `NaN` or `Infinity` stands where a number should be. */
  | 'non-finite-number'
  /** The text is no JSON for another reason, or beyond what is read of nesting and values. */
  | 'not-json'
  /** A field has the wrong type or value. */
  | 'wrong-shape'
  /** The uuid is not the name of the directory. */
  | 'uuid-mismatch'
  /** The id is not the name of the file. */
  | 'id-mismatch'
  /** The active context has no file. */
  | 'dangling-active-context'
  /** A child has no file. */
  | 'dangling-child'
  /** The context that this one was forked from has no file. */
  | 'dangling-origin'
  /** An anchor stands after the last message. */
  | 'anchor-out-of-range'
  /** An anchor stands before the one that precedes it in the list. */
  | 'anchors-not-ascending'
  /** Two anchors have the same name. */
  | 'duplicate-anchor'
  /** A counter is lower than what it has counted. */
  | 'counter-lags'
  /** Two messages have the same id. */
  | 'duplicate-message-id'
  /** Two messages have the same sequence number. */
  | 'duplicate-sequence-number'
  /** No message has the id of the special message. */
  | 'dangling-special-message'
  /** The special message does not stand where it is one, or is of another class. */
  | 'misplaced-special-message'
  /** The conversation went on after a tool call without its result. */
  | 'call-without-result'
  /** No message has the call that a tool result is of. */
  | 'result-without-call'
  /** An escape of half a surrogate pair. */
  | 'lone-surrogate'
  /** A key that stands twice in an object. */
  | 'duplicate-key'
  /** The file begins with a byte order mark. */
  | 'byte-order-mark'
  /** What a write that was killed has left. */
  | 'leftover-file'
  /** A copy that a repair has kept. */
  | 'kept-copy'
  /** A file that is not part of the format. */
  | 'other-file'

/** A fault in the files of a session, or something worth knowing about them. */
export interface Finding {
  /** What was looked for. */
  readonly rule: FindingRule
  /**
   * `error`: the file, or the session, cannot be loaded. `warning`: it is loaded, but something in it is not as it should
   * be. `info`: nothing is wrong.
   */
  readonly severity: 'error' | 'warning' | 'info'
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
