// Finds installed programs.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const extension = process.platform === 'win32' ? '.exe' : ''

/** The file name of the program `name` on this system. */
export function executable(name) {
  return name + extension
}

/** The first of `names` on the PATH, else the first of `places` (full paths) that can be run, else null. */
export function findProgram(names, places = []) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, executable(name))))
  return [...onPath, ...places].find(canRun) ?? null
}

export function canRun(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
