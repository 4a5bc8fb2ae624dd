import { InvalidArgumentError } from '../../errors.js'

/** The names that a path is made of. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (!names.includes('..')) return names
  throw new InvalidArgumentError(`path: ${path} has the name '..', which browser stores do not know`, {
    argument: 'path',
  })
}
