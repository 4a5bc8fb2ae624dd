import { InvalidArgumentError } from './errors.js'

/**
 * Copies the options that a caller passes. Each is read once, before anything else happens. `undefined` and `null` stand for
 * no options.
 * @internal
 */
export function readOptions<T extends object>(
  options: T | null | undefined,
  names: readonly (keyof T & string)[],
  what: string,
  where = 'options',
): Partial<T> {
  const given = objectOrNone(options, where)
  const copy: Partial<T> = {}
  let keys: string[]
  try {
    keys = Object.keys(given)
    // Read by name, so that inherited options count.
    for (const name of names) copy[name] = given[name]
  } catch (cause) {
    throw new InvalidArgumentError(`${where}: could not be read`, { argument: where, cause })
  }
  for (const key of keys) {
    if ((names as readonly string[]).includes(key)) continue
    const argument = `${where}.${key}`
    const message = `${argument}: is not an option of ${what}; known options: ${names.join(', ')}`
    throw new InvalidArgumentError(message, { argument })
  }
  return copy
}

/**
 * The options that a caller passes, an empty object for none.
 * @internal
 */
export function objectOrNone<T extends object>(options: T | null | undefined, where = 'options'): Partial<T> {
  if (options === undefined || options === null) return {}
  if (typeof options === 'object') return options
  const message = `${where}: expected an object, found a ${typeof options}`
  throw new InvalidArgumentError(message, { argument: where })
}
