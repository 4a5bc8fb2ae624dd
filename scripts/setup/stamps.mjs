// Skips work whose inputs and outputs are, byte for byte, those of the last time it was done.
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { root } from './steps.mjs'

const folder = join(root, 'target', 'stamps')

/**
 * Runs `make` unless nothing changed since it last succeeded under this name. `inputs` and `outputs` are files or
 * folders in the repository (an absent one is a change too), `values` is whatever else the result depends on.
 * Returns whether `make` ran.
 */
export async function onlyWhenChanged(name, { inputs = [], values = [], outputs }, make) {
  const stampFile = join(folder, `${name}.json`)
  // Taken before the work: what is edited meanwhile counts as a change the next time.
  const before = await contentHash(inputs, values)
  const stamp = await readStamp(stampFile)
  if (stamp?.inputs === before && stamp.outputs === (await contentHash(outputs))) return false
  await rm(stampFile, { force: true })
  await make()
  await mkdir(folder, { recursive: true })
  await writeFile(stampFile, JSON.stringify({ inputs: before, outputs: await contentHash(outputs) }))
  return true
}

async function readStamp(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch {
    return null
  }
}

async function contentHash(paths, values = []) {
  const hash = createHash('sha256').update(JSON.stringify(values))
  const files = (await Promise.all(paths.map((path) => filesUnder(join(root, path))))).flat()
  for (const file of files.sort()) {
    const content = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    hash.update(`\n${relative(root, file).split(sep).join('/')}\0${content}`)
  }
  return hash.digest('hex')
}

async function filesUnder(path) {
  const info = await stat(path).catch(() => null)
  if (!info) return []
  if (!info.isDirectory()) return [path]
  const names = await readdir(path)
  return (await Promise.all(names.map((name) => filesUnder(join(path, name))))).flat()
}
