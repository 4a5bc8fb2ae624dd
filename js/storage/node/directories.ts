// Directories: created with their parents, and synced.
import { constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasCode, unlessAbsentSync, withCode } from './failures.js'
import { closing, closingSync, later } from './files.js'

/**
 * Creates a directory and its missing parents.
 *
 * @returns The topmost directory that was created, if any.
 */
export async function makeDirectory(directory: string, sync: boolean): Promise<string | undefined> {
  const first = createWithParents(directory)
  if (first !== undefined && sync) for (const parent of parentsOfMade(directory, first)) await syncDirectory(parent)
  return first
}

/** A synchronous {@link makeDirectory}. */
export function makeDirectorySync(directory: string, sync: boolean): string | undefined {
  const first = createWithParents(directory)
  if (first !== undefined && sync) for (const parent of parentsOfMade(directory, first)) syncDirectorySync(parent)
  return first
}

/** Node's own `recursive` option never returns if a parent exists but refuses children with `ENOENT`, as `/proc` does. */
function createWithParents(directory: string): string | undefined {
  try {
    mkdirSync(directory)
    return directory
  } catch (error) {
    if (mayExist(error) && isDirectory(directory)) return undefined
    if (!hasCode(error, 'ENOENT') || dirname(directory) === directory) throw withCode(error)
  }
  const first = createWithParents(dirname(directory))
  try {
    mkdirSync(directory)
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!mayExist(error) || !isDirectory(directory)) throw withCode(error)
  }
  return first ?? directory
}

/** Systems differ in what they say of a directory that exists and cannot be created by this process. */
function mayExist(error: unknown): boolean {
  return hasCode(error, 'EEXIST', 'EISDIR', 'EPERM', 'EACCES', 'EROFS')
}

function isDirectory(path: string): boolean {
  return unlessAbsentSync(() => statSync(path).isDirectory(), false)
}

/** The entries of new directories are durable once the directories that hold them are synced. */
function parentsOfMade(directory: string, first: string): string[] {
  const parents = []
  for (let made = directory; ; made = dirname(made)) {
    parents.push(dirname(made))
    if (made === first || made === dirname(made)) return parents
  }
}

export async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such operation: there a rename is as durable as it gets.
  if (process.platform === 'win32') return
  try {
    const handle = await later.open(directory, constants.O_RDONLY)
    await closing(handle, () => later.fsync(handle))
  } catch (error) {
    unlessUnsupported(error)
  }
}

export function syncDirectorySync(directory: string): void {
  if (process.platform === 'win32') return
  try {
    const handle = openSync(directory, constants.O_RDONLY)
    closingSync(handle, () => fsyncSync(handle))
  } catch (error) {
    unlessUnsupported(error)
  }
}

/** Some file systems (network shares, FUSE) cannot sync a directory, and some directories may be written but not opened. */
function unlessUnsupported(error: unknown): void {
  const codes = ['EINVAL', 'EPERM', 'EACCES', 'EISDIR', 'EBADF', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']
  if (!hasCode(error, ...codes)) throw withCode(error)
}
