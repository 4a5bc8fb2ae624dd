import { constants } from 'node:os'
import { sleep, sleepSync } from './timers.js'

/** The codes on Windows while a scanner, an indexer or a reader has the file open. */
const BUSY = ['EPERM', 'EACCES', 'EBUSY']

/** The pauses before each further attempt, in milliseconds: 1.3 seconds in all. */
const DELAYS = [5, 10, 20, 40, 80, 160, 320, 640]

/** Whether a thrown value is an error of Node with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | null)?.code ?? '')
}

/** Whether a thrown value says that there is no such file. ENOTDIR: a part of the path is a file. */
export function isAbsent(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR')
}

export function isBusy(error: unknown): boolean {
  return hasCode(error, ...BUSY)
}

/** An error as Node's file system throws it. */
export function fileError(code: string, path: string, message: string): Error {
  return Object.assign(new Error(message), { code, path })
}

/** Sets the system's code on an error whose number Node cannot name, such as that of an exceeded quota (EDQUOT). */
export function withCode(error: unknown): unknown {
  const { code, errno, message } = Object(error) as NodeJS.ErrnoException
  if (errno === undefined || code === undefined || !/^(UNKNOWN$|Unknown system error)/.test(code)) return error
  const name = Object.entries(constants.errno).find(([, number]) => number === -errno)?.[0]
  return name === undefined
    ? error
    : Object.assign(error as Error, { code: name, message: message.replaceAll(code, name) })
}

export async function unlessAbsent<T, A>(operation: Promise<T>, absent: A): Promise<T | A> {
  try {
    return await operation
  } catch (error) {
    if (isAbsent(error)) return absent
    throw error
  }
}

export function unlessAbsentSync<T, A>(operation: () => T, absent: A): T | A {
  try {
    return operation()
  } catch (error) {
    if (isAbsent(error)) return absent
    throw error
  }
}

/** Repeats an operation while a file is busy. */
export async function whileBusy<T>(operation: () => T): Promise<T> {
  for (const delay of DELAYS) {
    try {
      return operation()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    await sleep(delay)
  }
  return operation()
}

/** A synchronous {@link whileBusy}, which blocks the thread. */
export function whileBusySync<T>(operation: () => T): T {
  for (const delay of DELAYS) {
    try {
      return operation()
    } catch (error) {
      if (!isBusy(error)) throw error
    }
    sleepSync(delay)
  }
  return operation()
}
