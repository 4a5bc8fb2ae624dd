// Files that are replaced as a whole: a temporary file beside the target, synced and renamed over it. Each step is there
// twice, for callers that wait and for those that cannot.
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, mkdir, open, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { unlessAbsent, unlessAbsentSync, whileBusy, whileBusySync } from './failures.js'
import { temporaryBeside } from './temporary.js'

/** How files are replaced. */
export interface Replacement {
  /** The permissions of a file that is new. */
  readonly mode: number
  /** Whether each step is on the disk before the next begins. */
  readonly sync: boolean
}

/** A replacement under way, which a synchronous one of the same file overtakes: what is older is not to come last. */
interface UnderWay {
  overtaken: boolean
}

/** By the path of the target. */
const underWay = new Map<string, Set<UnderWay>>()

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

export async function replaceFile(target: string, data: Uint8Array, { mode, sync }: Replacement): Promise<void> {
  const directory = dirname(target)
  await makeDirectory(directory, sync)
  const temporary = temporaryBeside(target)
  const replacement = begin(target)
  try {
    const kept = await unlessAbsent(stat(target).then((file) => file.mode & 0o777), null)
    await closing(await open(temporary, NEW, kept ?? mode), async (file) => {
      // Of a mode to create with, the process's mask takes permissions away; a file that is replaced keeps its own.
      if (kept !== null) await file.chmod(kept)
      await file.writeFile(data)
      if (sync) await file.sync()
    })
    await whileBusy(async () => {
      // At once, so that a synchronous replacement finds none that was handed to the system and not yet done.
      if (replacement.overtaken) await unlink(temporary)
      else renameSync(temporary, target)
    })
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  } finally {
    end(target, replacement)
  }
  if (sync) await syncDirectory(directory)
}

export function replaceFileSync(target: string, data: Uint8Array, { mode, sync }: Replacement): void {
  const directory = dirname(target)
  makeDirectorySync(directory, sync)
  for (const replacement of underWay.get(resolve(target)) ?? []) replacement.overtaken = true
  const temporary = temporaryBeside(target)
  try {
    const kept = unlessAbsentSync(() => statSync(target).mode & 0o777, null)
    closingSync(openSync(temporary, NEW, kept ?? mode), (file) => {
      if (kept !== null) chmodSync(temporary, kept)
      writeFileSync(file, data)
      if (sync) fsyncSync(file)
    })
    whileBusySync(() => renameSync(temporary, target))
  } catch (error) {
    try {
      unlinkSync(temporary)
    } catch {
      // It was not made, or the failure that is told is the reason.
    }
    throw error
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

export async function makeDirectory(directory: string, sync: boolean): Promise<void> {
  const first = await mkdir(directory, { recursive: true })
  if (first === undefined || !sync) return
  for (const parent of parentsOfMade(directory, first)) await syncDirectory(parent)
}

function makeDirectorySync(directory: string, sync: boolean): void {
  const first = mkdirSync(directory, { recursive: true })
  if (first === undefined || !sync) return
  for (const parent of parentsOfMade(directory, first)) syncDirectorySync(parent)
}

/** The entries of new directories are durable once the directories that hold them are synced. */
function parentsOfMade(directory: string, first: string): string[] {
  const parents = []
  for (let made = directory; ; made = dirname(made)) {
    parents.push(dirname(made))
    if (made === first || made === dirname(made)) return parents
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such operation: there a rename is as durable as it gets.
  if (process.platform === 'win32') return
  await closing(await open(directory, constants.O_RDONLY), (handle) => handle.sync())
}

function syncDirectorySync(directory: string): void {
  if (process.platform === 'win32') return
  closingSync(openSync(directory, constants.O_RDONLY), fsyncSync)
}

async function closing(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

function closingSync(file: number, work: (file: number) => void): void {
  try {
    work(file)
  } finally {
    closeSync(file)
  }
}
