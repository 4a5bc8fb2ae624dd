// Errors of the package have a stable `code`, and say in their message what is wrong.

const TITLES = {
  ENOENT: 'There is no session here',
  ERR_CORRUPT_SESSION: 'This file is damaged',
  ERR_CONTEXT_NOT_FOUND: 'A file of the session is missing',
  ERR_NOT_INITIALIZED: 'The viewer could not start',
  ERR_INVALID_ARGUMENT: 'This session cannot be opened',
  NoSessionError: 'There is no session here',
  TooManyFilesError: 'That is too much',
  NotFoundError: 'A file is gone',
  NotReadableError: 'A file could not be read',
}

/** An error as a title, a sentence, and the place of the fault where there is one. */
export function errorWords(error) {
  const title = TITLES[error.code] ?? TITLES[error.name] ?? 'That did not work'
  if (error.code !== 'ERR_CORRUPT_SESSION') return { title, text: error.message, place: '' }
  const place = `${error.path}:${error.line}:${error.column}`
  return { title, text: error.message.replace(`${place}: `, ''), place }
}
