// Processes of writers, and the comparison of what they acknowledged with what is there.
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { folder } from '../../package/support/installed.mjs'
import { start } from '../../package/support/processes.mjs'
import { textsOf } from './sessions.mjs'

const WRITERS = fileURLToPath(new URL('writers.mjs', import.meta.url))
const LOADER = pathToFileURL(join(folder, 'load.mjs')).href

/** Starts a process in which a writer of each kind appends `number` messages. */
export function startWriters({ directory, uuid, name, number, kinds }) {
  return start(WRITERS, LOADER, directory, uuid, name, number, ...kinds)
}

/** The acknowledged messages that are not in the session. */
export async function lostFrom(directory, uuid, acknowledged) {
  const found = await textsOf(directory, uuid)
  return acknowledged.filter((text) => !found.has(text))
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
