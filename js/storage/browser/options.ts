import { InvalidArgumentError } from '../../errors.js'
import { readOptions } from '../../read-options.js'
import { isTimeout, LOCK_TIMEOUT } from '../lock-timeout.js'

/** Options of the stores of a browser. */
export interface BrowserStorageOptions {
  /**
   * Names the database, or the directory of the private file system, that holds the files; by default
   * `peteos-session`. Storages with one name share their files.
   */
  name?: string
  /** How long `lock` waits for a lock, in milliseconds; by default 30,000. */
  lockTimeout?: number
}

export function checkedOptions(options: BrowserStorageOptions, what: string): Required<BrowserStorageOptions> {
  const given = readOptions(options, ['name', 'lockTimeout'], what)
  const { name = 'peteos-session', lockTimeout = LOCK_TIMEOUT } = given
  if (typeof name !== 'string' || name === '') throw wrong('name', 'a string that is not empty')
  if (!isTimeout(lockTimeout)) throw wrong('lockTimeout', 'a number of milliseconds')
  return { name, lockTimeout }
}

function wrong(option: string, expected: string): InvalidArgumentError {
  const argument = `options.${option}`
  return new InvalidArgumentError(`${argument}: expected ${expected}`, { argument })
}
