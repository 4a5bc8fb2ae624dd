/** The summary of a session, as its `session.json` describes it. */
export interface SessionSummary {
  /** The id of the session. */
  readonly uuid: string
  /** The directory of the session: `parentDir/uuid`. */
  readonly sessionDir: string
  /** The id of the active context; `null` if there is none. */
  readonly activeContextId: string | null
  /** Whether a running agent uses the session. */
  readonly isActive: boolean
  /** The names of the tools that run without approval. */
  readonly autoApproveTools: readonly string[]
  /** When the session was last saved; `null` if the storage does not know. */
  readonly modifiedAt: Date | null
}
