/**
 * Limits on each file of a session. What exceeds one is refused with a `FileTooLargeError`: at an append and a save before it
 * is written, at a load before it is parsed. So what was written can be read with the same limits.
 */
export interface FileLimits {
  /** The largest size in bytes. By default 256 MiB. */
  maxFileBytes?: number
  /** The largest number of JSON values, nested ones included. By default 5,000,000. */
  maxFileValues?: number
}

/**
 * The options of {@link FileLimits}.
 * @internal
 */
export const FILE_LIMITS = ['maxFileBytes', 'maxFileValues'] as const
