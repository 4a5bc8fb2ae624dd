import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of the demo session, as `<session>/<file>`. */
export async function listDemoFiles(root) {
  const folder = join(root, 'examples', 'demo-session')
  const sessions = (await entries(folder)).filter((entry) => entry.isDirectory())
  const lists = await Promise.all(
    sessions.map(async ({ name }) => {
      const files = (await entries(join(folder, name))).filter(
        (entry) => entry.isFile() && entry.name.endsWith('.json'),
      )
      return files.map((file) => `${name}/${file.name}`)
    }),
  )
  return lists.flat().sort()
}

async function entries(folder) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}
