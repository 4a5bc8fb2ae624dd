import { MemoryStorage, Session } from '../../dist/browser.js'

/**
 * Copies the files of a session into memory and loads it from there.
 *
 * @param {ReturnType<import('./find-sessions.js').findSessions>[number]} found
 */
export async function loadSession({ directory, files }) {
  const contents = await Promise.all(
    files.map(async ({ name, file }) => ({ name, data: new Uint8Array(await file.arrayBuffer()) })),
  )
  const end = directory.lastIndexOf('/')
  const parent = directory.slice(0, Math.max(end, 0))
  const main = contents.find(({ name }) => name === 'session.json')
  // A copy of a session may be in a folder with another name; files picked one by one have no folder.
  const uuid = uuidIn(main.data) ?? (directory.slice(end + 1) || 'session')
  const storage = new MemoryStorage()
  for (const { name, data } of contents) await storage.write(join(parent, uuid, name), data)
  return Session.load(parent, uuid, { storage })
}

/** The uuid in a `session.json`; the package reports what is wrong with the file. */
function uuidIn(data) {
  try {
    const { uuid } = JSON.parse(new TextDecoder().decode(data))
    return typeof uuid === 'string' && uuid !== '' ? uuid : null
  } catch {
    return null
  }
}

function join(...names) {
  return names.filter(Boolean).join('/')
}
