import { InvalidArgumentError, SessionError } from '../errors.js'

/**
 * Makes an error object of what the module of the providers throws: a JSON text.
 * @internal
 */
export function call<T>(work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (typeof thrown !== 'string') throw thrown
    const { message, argument } = JSON.parse(thrown) as { message: string; argument: string | null }
    throw argument === null ? new SessionError(message) : new InvalidArgumentError(message, { argument })
  }
}
