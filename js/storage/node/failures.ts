import { setTimeout as sleep } from 'node:timers/promises'

/** What Windows answers while a scanner, an indexer or a reader has a file open. */
const BUSY = ['EPERM', 'EACCES', 'EBUSY']

/** How long is waited before each further attempt, in milliseconds: 1.3 seconds in all. */
const DELAYS = [5, 10, 20, 40, 80, 160, 320, 640]

/** Whether what was thrown is an error of Node with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | null)?.code ?? '')
}

/** Whether what was thrown says that there is no such file. ENOTDIR: what should be a directory on the way is a file. */
export function isAbsent(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR')
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

/** Tries again and again while a file is busy. */
export async function whileBusy<T>(operation: () => Promise<T>): Promise<T> {
  for (const delay of DELAYS) {
    try {
      return await operation()
    } catch (error) {
      if (!hasCode(error, ...BUSY)) throw error
    }
    await sleep(delay)
  }
  return operation()
}

/** As {@link whileBusy}; keeps the thread waiting. */
export function whileBusySync<T>(operation: () => T): T {
  for (const delay of DELAYS) {
    try {
      return operation()
    } catch (error) {
      if (!hasCode(error, ...BUSY)) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delay)
  }
  return operation()
}
