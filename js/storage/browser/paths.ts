import { InvalidArgumentError } from '../../errors.js'

/** The names in a path. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (!names.includes('..')) return names
  throw new InvalidArgumentError(`path: ${path} contains '..', which browser storages do not support`, {
    argument: 'path',
  })
}
