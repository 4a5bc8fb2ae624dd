import { formatCount } from './format.js'

/**
 * The sessions among files: each folder that holds a `session.json`, newest first.
 *
 * @param {{ path: string, file: Blob }[]} files
 * @returns {{ directory: string, files: { name: string, file: Blob }[], modified: number | null }[]}
 */
export function findSessions(files) {
  const folders = new Map()
  for (const { path, file } of files) {
    const end = path.lastIndexOf('/')
    const directory = path.slice(0, Math.max(end, 0))
    if (!folders.has(directory)) folders.set(directory, [])
    folders.get(directory).push({ name: path.slice(end + 1), file })
  }
  const sessions = []
  for (const [directory, members] of folders) {
    const main = members.find(({ name }) => name === 'session.json')
    if (main) sessions.push({ directory, files: members, modified: main.file.lastModified ?? null })
  }
  if (sessions.length === 0) throw new NoSessionError(files.length)
  return sessions.sort((one, other) => (other.modified ?? 0) - (one.modified ?? 0))
}

export class NoSessionError extends Error {
  name = 'NoSessionError'

  constructor(fileCount) {
    const what =
      fileCount === 0
        ? 'There are no JSON files here'
        : `There is no session.json in the ${formatCount(fileCount, 'JSON file')}`
    super(
      `${what}. A session is a folder with session.json and a file for each context: open that folder, or all its files.`,
    )
  }
}
