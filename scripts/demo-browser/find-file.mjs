import { realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'

const FOLDERS = ['examples', 'dist']

/**
 * The file of a request's path, or null where there is none. Only the served folders are looked into; neither `..`,
 * however it is written, nor a link leads out of them.
 */
export async function findFile(root, urlPath) {
  const path = decode(urlPath)
  if (path === null || /[\0\\]/.test(path)) return null
  try {
    const file = await realpath(resolve(root, `.${path}`))
    const folders = await Promise.all(FOLDERS.map((name) => realpath(join(root, name)).catch(() => null)))
    const isServed = folders.some((folder) => folder !== null && file.startsWith(folder + sep))
    return isServed && (await stat(file)).isFile() ? file : null
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(error.code)) return null
    throw error
  }
}

function decode(urlPath) {
  try {
    return decodeURIComponent(urlPath)
  } catch {
    return null
  }
}
