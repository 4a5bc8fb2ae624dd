// Skips steps that are up to date: their inputs and outputs have not changed, by content hash.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { root } from './steps.mjs'

const folder = join(root, 'target', 'stamps')

/**
 * Runs `make` unless nothing changed since it last succeeded under this name. `inputs` and `outputs` are files or
 * folders in the repository (a missing one counts as a change); `values` is whatever else the result depends on.
 * Resolves to whether `make` ran.
 */
export async function onlyWhenChanged(name, { inputs = [], values = [], outputs }, make) {
  const stamp = join(folder, `${name}.json`)
  // Hashed before the work: an edit during the work counts as a change next time.
  const before = await contentHash(inputs, values)
  const last = await readFile(stamp, 'utf8').catch(() => '')
  if (last === `${before} ${await contentHash(outputs)}`) return false
  await rm(stamp, { force: true })
  await make()
  await mkdir(folder, { recursive: true })
  await writeFile(stamp, `${before} ${await contentHash(outputs)}`)
  return true
}

async function contentHash(paths, values = []) {
  const hash = createHash('sha256').update(JSON.stringify(values))
  for (const file of (await Promise.all(paths.map(filesOf))).flat().sort()) {
    const content = createHash('sha256').update(await readFile(file))
    hash.update(`\n${relative(root, file).split(sep).join('/')}\0${content.digest('hex')}`)
  }
  return hash.digest('hex')
}

async function filesOf(path) {
  const full = join(root, path)
  const info = await stat(full).catch(() => null)
  if (!info?.isDirectory()) return info ? [full] : []
  const entries = await readdir(full, { recursive: true, withFileTypes: true })
  // Node 20 calls the folder of an entry `path`, later versions `parentPath`.
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}
