/** How long a lock is waited for by default, in milliseconds. */
export const LOCK_TIMEOUT = 30_000

/**
 * The error of a lock that was not to be had in time.
 * @internal
 */
export function lockTimeoutError(directory: string, holder: string, milliseconds: number): Error {
  const message =
    `${directory} is locked by ${holder}, and was so for ${milliseconds} ms; try again, or let the adapter wait longer ` +
    'with its option lockTimeout'
  return Object.assign(new Error(message), { code: 'ELOCKED', path: directory })
}

/**
 * Checks an option `lockTimeout`.
 * @internal
 */
export function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
