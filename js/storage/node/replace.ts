// Replaces files as a whole: a temporary file beside the target is synced and renamed over it. Each step exists in an
// asynchronous and a synchronous form.
import {
  constants,
  fchmod,
  fchmodSync,
  fchown,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstat,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFile,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { StorageLease } from '../lease.js'
import { makeDirectory, makeDirectorySync, syncDirectory, syncDirectorySync } from './directories.js'
import { hasCode, unlessAbsent, unlessAbsentSync, whileBusy, whileBusySync, withCode } from './failures.js'
import { closing, closingSync, later } from './files.js'
import { temporaryBeside } from './temporary.js'

/** How files are replaced. */
export interface Replacement {
  /** The permissions of new files. */
  readonly mode: number
  /** Whether each step is on disk before the next begins. */
  readonly sync: boolean
}

/** A replacement in progress. A synchronous one of the same file overtakes it: the older contents must not come last. */
interface UnderWay {
  overtaken: boolean
}

/** By the path of the target. */
const underWay = new Map<string, Set<UnderWay>>()

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

// `FileHandle` lacks some of these methods under Yarn's Plug'n'Play.
const lstatLater = promisify(lstat) as (path: string) => Promise<Stats>
const fchmodLater = promisify(fchmod)
const fchownLater = promisify(fchown)
const writeFileLater = promisify(writeFile) as (file: number, data: Uint8Array) => Promise<void>

/** @param lease Checked right before the rename, if given. */
export async function replaceFile(
  target: string,
  data: Uint8Array,
  { mode, sync }: Replacement,
  lease?: StorageLease,
): Promise<void> {
  const directory = dirname(target)
  await makeDirectory(directory, sync)
  const temporary = temporaryBeside(target)
  const replacement = begin(target)
  try {
    const replaced = regular(await unlessAbsent(lstatLater(target), null))
    const file = await later.open(temporary, NEW, replaced === null ? mode : permissions(replaced))
    await closing(file, async () => {
      if (replaced !== null) await keepOwnerAndMode(file, replaced)
      await writeFileLater(file, data)
      if (sync) await later.fsync(file)
    })
    await whileBusy(() => {
      // Both are synchronous, so that nothing happens between the check and the rename, and no rename is pending in the thread
      // pool when a synchronous replacement begins.
      lease?.check()
      if (replacement.overtaken) unlinkSync(temporary)
      else renameSync(temporary, target)
    })
  } catch (error) {
    removeQuietly(temporary)
    throw withCode(error)
  } finally {
    end(target, replacement)
  }
  if (sync) await syncDirectory(directory)
}

/** A synchronous {@link replaceFile}. */
export function replaceFileSync(
  target: string,
  data: Uint8Array,
  { mode, sync }: Replacement,
  lease?: StorageLease,
): void {
  const directory = dirname(target)
  makeDirectorySync(directory, sync)
  for (const replacement of underWay.get(resolve(target)) ?? []) replacement.overtaken = true
  const temporary = temporaryBeside(target)
  try {
    const replaced = regular(unlessAbsentSync(() => lstatSync(target), null))
    const file = openSync(temporary, NEW, replaced === null ? mode : permissions(replaced))
    closingSync(file, () => {
      if (replaced !== null) keepOwnerAndModeSync(file, replaced)
      writeFileSync(file, data)
      if (sync) fsyncSync(file)
    })
    whileBusySync(() => {
      lease?.check()
      renameSync(temporary, target)
    })
  } catch (error) {
    removeQuietly(temporary)
    throw withCode(error)
  }
  if (sync) syncDirectorySync(directory)
}

function begin(target: string): UnderWay {
  const path = resolve(target)
  const replacement = { overtaken: false }
  const others = underWay.get(path)
  if (others === undefined) underWay.set(path, new Set([replacement]))
  else others.add(replacement)
  return replacement
}

function end(target: string, replacement: UnderWay): void {
  const path = resolve(target)
  const others = underWay.get(path)
  others?.delete(replacement)
  if (others?.size === 0) underWay.delete(path)
}

/** Anything that is not a file, such as a link, is replaced by a new file. */
function regular(stats: Stats | null): Stats | null {
  return stats?.isFile() ? stats : null
}

function permissions({ mode }: Stats): number {
  return mode & 0o777
}

async function keepOwnerAndMode(file: number, replaced: Stats): Promise<void> {
  const made = await later.fstat(file)
  // The owner first: changing it may clear permissions.
  if (differsInOwner(made, replaced)) await fchownLater(file, replaced.uid, replaced.gid).catch(unlessRefused)
  // The umask clears permissions of the mode with which a file is created.
  if (permissions(made) !== permissions(replaced)) await fchmodLater(file, permissions(replaced))
}

function keepOwnerAndModeSync(file: number, replaced: Stats): void {
  const made = fstatSync(file)
  if (differsInOwner(made, replaced)) {
    try {
      fchownSync(file, replaced.uid, replaced.gid)
    } catch (error) {
      unlessRefused(error)
    }
  }
  if (permissions(made) !== permissions(replaced)) fchmodSync(file, permissions(replaced))
}

function differsInOwner(made: Stats, replaced: Stats): boolean {
  return made.uid !== replaced.uid || made.gid !== replaced.gid
}

/** Only root may change the owner, and not every file system has owners. */
function unlessRefused(error: unknown): void {
  if (!hasCode(error, 'EPERM', 'EACCES', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP')) throw error
}

function removeQuietly(temporary: string): void {
  try {
    unlinkSync(temporary)
  } catch {
    // It was not created, or the error that is thrown says more.
  }
}
