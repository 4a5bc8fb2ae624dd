// The temporary copy of a session that the demo works on.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Copies the files of a session into a new temporary directory. The copy keeps the directory name, which is the uuid. */
export async function copySession(sessionDir) {
  const parentDir = await mkdtemp(join(tmpdir(), 'peteos-session-demo-'))
  const copy = join(parentDir, basename(sessionDir))
  await mkdir(copy)
  for (const name of await sessionFiles(sessionDir)) await copyFile(join(sessionDir, name), join(copy, name))
  return { parentDir, sessionDir: copy, remove: () => rm(parentDir, { recursive: true, force: true }) }
}

/** The text of each file of a session, by name. */
export async function readSessionFiles(sessionDir) {
  const names = await sessionFiles(sessionDir)
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(sessionDir, name), 'utf8')])),
  )
}

/** The names of the files that differ. */
export function changedFiles(before, after) {
  const names = Object.keys({ ...before, ...after })
  return names.filter((name) => before[name] !== after[name]).sort()
}

/** `session.json` and the contexts; a session directory may hold other files of any size. */
async function sessionFiles(sessionDir) {
  const entries = await readdir(sessionDir, { withFileTypes: true })
  const isSessionFile = (entry) => entry.isFile() && entry.name.endsWith('.json') && !entry.name.startsWith('.')
  return entries.filter(isSessionFile).map(({ name }) => name)
}
