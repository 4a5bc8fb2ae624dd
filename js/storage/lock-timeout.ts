/** How long to wait for a lock by default, in milliseconds. */
export const LOCK_TIMEOUT = 30_000

/**
 * The error for a lock that could not be acquired in time.
 * @internal
 */
export function lockTimeoutError(directory: string, holder: string, milliseconds: number): Error {
  const message =
    `${directory} is locked by ${holder}; gave up after ${Math.round(milliseconds)} ms: try again, or set the adapter's option ` +
    'lockTimeout to wait longer'
  return Object.assign(new Error(message), { code: 'ELOCKED', path: directory })
}

/**
 * Whether a value can be the option `lockTimeout`.
 * @internal
 */
export function isTimeout(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
