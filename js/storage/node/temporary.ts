import { statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { currentHolder, holderFromText, holderToText, lifeOf } from './holder.js'

const TEMPORARY = /\.([^.]+\.[^.]+\.[^.]+\.[^.]+)\.[0-9a-z]+\.tmp$/

/** A temporary file of a writer elsewhere is a leftover if it was not written to for a day. */
const OLD = 24 * 60 * 60 * 1000

/**
 * The path of a temporary file beside this one, with a unique name that identifies its writer. The leading dot distinguishes
 * it from a context. The name stays valid even for a context with a name of 200 characters.
 */
export function temporaryBeside(path: string): string {
  const random = Math.random().toString(36).slice(2, 10)
  return join(dirname(path), `.${basename(path)}.${holderToText(currentHolder())}.${random}.tmp`)
}

/**
 * Removes the temporary files whose writers have ended, and returns the other names in the directory. Files that cannot be
 * removed stay.
 *
 * @param now The time by the clock of the file system.
 */
export function removeLeftovers(directory: string, names: readonly string[], now: () => number): string[] {
  return names.filter((name) => {
    const holder = holderFromText(TEMPORARY.exec(name)?.[1] ?? '')
    if (holder === null || !name.startsWith('.')) return true
    const path = join(directory, name)
    const life = lifeOf(holder)
    try {
      if (life === 'alive' || (life === 'unknown' && now() - statSync(path).mtimeMs < OLD)) return true
      unlinkSync(path)
      return false
    } catch {
      return true
    }
  })
}
