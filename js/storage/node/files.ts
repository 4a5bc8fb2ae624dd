// Reads regular files. Anything else in their place (a FIFO, a device, a socket) must neither block nor be read.
import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  fsync,
  open,
  openSync,
  readFile,
  readFileSync,
  type Stats,
} from 'node:fs'
import { promisify } from 'node:util'
import type { StoredFile } from '../storage.js'
import { fileError, hasCode, withCode } from './failures.js'

/** With this flag, opening does not wait for the other end of a FIFO. Windows has no such flag. */
export const NONBLOCKING = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

const READ = constants.O_RDONLY | NONBLOCKING

export const later = {
  close: promisify(close),
  fsync: promisify(fsync),
  fstat: promisify(fstat) as (file: number) => Promise<Stats>,
  open: promisify(open) as (path: string, flags: number, mode?: number) => Promise<number>,
  readFile: promisify(readFile) as (file: number) => Promise<Buffer>,
}

export async function readRegularFile(path: string): Promise<StoredFile> {
  const file = await later.open(path, READ).catch((error: unknown) => {
    throw socketNamed(path, error)
  })
  return closing(file, async () => {
    const stats = await later.fstat(file)
    checkKind(path, stats)
    return whole(path, await later.readFile(file), stats)
  })
}

export function readRegularFileSync(path: string): StoredFile {
  let file: number
  try {
    file = openSync(path, READ)
  } catch (error) {
    throw socketNamed(path, error)
  }
  return closingSync(file, () => {
    const stats = fstatSync(file)
    checkKind(path, stats)
    return whole(path, readFileSync(file), stats)
  })
}

export async function closing<T>(file: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await later.close(file)
  }
}

export function closingSync<T>(file: number, work: () => T): T {
  try {
    return work()
  } finally {
    closeSync(file)
  }
}

/** A description of anything that is not a file; `null` for a file. */
export function otherKind(stats: Stats): string | null {
  if (stats.isFile()) return null
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}

function checkKind(path: string, stats: Stats): void {
  const kind = otherKind(stats)
  if (kind !== null) throw notAFile(path, kind, stats.isDirectory() ? 'EISDIR' : 'EINVAL')
}

/** Opening a socket fails, and so does a device without hardware. */
function socketNamed(path: string, error: unknown): unknown {
  return hasCode(error, 'ENXIO', 'EOPNOTSUPP') ? notAFile(path, 'a socket or a device', 'EINVAL') : withCode(error)
}

function notAFile(path: string, kind: string, code: string): Error {
  return fileError(code, path, `${path} is ${kind}, not a file: remove it`)
}

/** Files are replaced, never truncated: a short read is a failure of the file system. */
function whole(path: string, data: Buffer, { size, mtimeMs }: Stats): StoredFile {
  if (data.length >= size) return { data, modifiedTime: mtimeMs }
  throw fileError('EIO', path, `read ${data.length} of the ${size} bytes of ${path}: try again`)
}
