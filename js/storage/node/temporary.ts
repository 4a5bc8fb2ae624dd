import { statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { currentHolder, holderFromText, holderToText, lifeOf } from './holder.js'

const TEMPORARY = /\.([^.]+\.[^.]+\.[^.]+\.[^.]+)\.[0-9a-z]+\.tmp$/

/** A temporary file in another place is a leftover when it was not written to for a day. */
const OLD = 24 * 60 * 60 * 1000

/**
 * The path of a temporary file beside this one, with a name of its own that tells who writes it; the dot keeps it from
 * being taken for a context. The name is short enough beside that of a context of 200 characters.
 */
export function temporaryBeside(path: string): string {
  const random = Math.random().toString(36).slice(2, 10)
  return join(dirname(path), `.${basename(path)}.${holderToText(currentHolder())}.${random}.tmp`)
}

/**
 * Removes the temporary files, among the names in a directory, whose writers have ended, and gives the other names. What
 * cannot be removed stays.
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
