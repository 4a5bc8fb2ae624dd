// The files of a session on disk.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** The names of the session directories in a folder. */
export function sessionsIn(folder) {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.filter((name) => existsSync(join(folder, name, 'session.json')))
}

/** Makes an empty directory for a copy of a session, which has to have the same name. */
export async function newCopyDir(sessionDir) {
  const parentDir = await mkdtemp(join(tmpdir(), 'peteos-session-demo-'))
  const copy = join(parentDir, basename(sessionDir))
  await mkdir(copy)
  return copy
}

export async function copySession(from, to) {
  for (const name of await filesOf(from)) await copyFile(join(from, name), join(to, name))
}

/** The sha256 of each file of a session, by its name. */
export async function fingerprint(sessionDir) {
  const entries = (await filesOf(sessionDir)).map(async (name) => {
    const hash = createHash('sha256').update(await readFile(join(sessionDir, name)))
    return [name, hash.digest('hex')]
  })
  return new Map(await Promise.all(entries))
}

/** The names whose files differ between two fingerprints. */
export function changedFiles(before, after) {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort()
}

/** The names of `session.json` and of the contexts' files. */
async function filesOf(sessionDir) {
  const entries = await readdir(sessionDir, { withFileTypes: true })
  const isFile = (entry) => !entry.isDirectory() && entry.name.endsWith('.json') && !entry.name.startsWith('.')
  return entries
    .filter(isFile)
    .map(({ name }) => name)
    .sort()
}
