import { stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasEnded } from './processes.js'

const TEMPORARY = /^\..+\.(\d+)\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/

/** Older temporary files are leftovers even where a process has the id of the one that made them; in milliseconds. */
const OLD = 60 * 60 * 1000

/**
 * The path of a temporary file beside this one. Each has a name of its own, so that two writers never share one; the dot
 * keeps it from being taken for a context.
 */
export function temporaryBeside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${crypto.randomUUID()}.tmp`)
}

/**
 * Removes the temporary files, among the names in a directory, of processes that are no more. To be called while the lock
 * of the directory is held, so that nobody who keeps to that is writing there. What cannot be removed stays.
 */
export async function removeLeftovers(directory: string, names: string[]): Promise<void> {
  for (const name of names) {
    const pid = TEMPORARY.exec(name)?.[1]
    if (pid === undefined) continue
    const path = join(directory, name)
    const time = await stat(path).then((file) => file.mtimeMs, () => Date.now())
    if (hasEnded(Number(pid), time) || Date.now() - time > OLD) await unlink(path).catch(() => undefined)
  }
}
