// Errors of the package have a stable `code` and a message that says what is wrong.

const TITLES = {
  ENOENT: 'There is no session here',
  ERR_CORRUPT_SESSION: 'This file is damaged',
  ERR_CONTEXT_NOT_FOUND: 'A file of the session is missing',
  ERR_NOT_INITIALIZED: 'The viewer could not start',
  ERR_INVALID_ARGUMENT: 'This session cannot be opened',
  NoSessionError: 'There is no session here',
  TooManyFilesError: 'Too many files',
  NotFoundError: 'A file no longer exists',
  NotReadableError: 'A file could not be read',
}

/** An error as a title, a sentence and, if it has one, the place of the fault. */
export function errorWords(error) {
  const title = TITLES[error.code] ?? TITLES[error.name] ?? 'Something went wrong'
  if (error.code !== 'ERR_CORRUPT_SESSION') return { title, text: error.message, place: '' }
  const place = `${error.path}:${error.line}:${error.column}`
  return { title, text: error.message.replace(`${place}: `, ''), place }
}
