/**
 * What is used of an `AbortSignal`. One of any realm serves; the declarations of this package need no library that has the type.
 */
export interface AbortSignalLike {
  readonly aborted: boolean
  /** Why it was aborted. */
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
