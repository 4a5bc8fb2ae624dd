import { InvalidArgumentError } from '../../errors.js'
import { readOptions } from '../../read-options.js'
import { isTimeout, LOCK_TIMEOUT } from '../lock-timeout.js'

/** Options of the browser storages. */
export interface BrowserStorageOptions {
  /**
   * The name of the database, or of the directory in the private file system, that holds the files. By default
   * `peteos-session`. Storages with the same name share their files.
   */
  name?: string
  /** How long to wait for a lock, in milliseconds. By default 30,000. */
  lockTimeout?: number
}

export function checkedOptions(options: BrowserStorageOptions, what: string): Required<BrowserStorageOptions> {
  const given = readOptions(options, ['name', 'lockTimeout'], what)
  const { name = 'peteos-session', lockTimeout = LOCK_TIMEOUT } = given
  if (typeof name !== 'string' || name === '') throw wrong('name', 'a non-empty string')
  if (!isTimeout(lockTimeout)) throw wrong('lockTimeout', 'a number of milliseconds')
  return { name, lockTimeout }
}

function wrong(option: string, expected: string): InvalidArgumentError {
  const argument = `options.${option}`
  return new InvalidArgumentError(`${argument}: expected ${expected}`, { argument })
}
