// What a person picks or drops becomes a list of { path, file }, with the path below what was picked.
import { formatNumber } from './format.js'

/** More than this is a home directory or a project, not a session. */
const MOST_FILES = 20_000

/** The files of an `<input type="file">`. */
export function pickedFiles(input) {
  return [...input.files].filter(isJson).map((file) => ({ path: file.webkitRelativePath || file.name, file }))
}

/** The files of a drop; folders are walked to their depths. */
export async function droppedFiles(dataTransfer) {
  // The items are only there while the event is handled: take them all before waiting for the first.
  const entries = [...dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean)
  const files = []
  for (const entry of entries) await collect(entry, entry.name, files)
  return files
}

async function collect(entry, path, files) {
  if (entry.isDirectory) {
    for (const child of await childrenOf(entry)) await collect(child, `${path}/${child.name}`, files)
  } else if (isJson(entry)) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject))
    if (files.length === MOST_FILES) throw new TooManyFilesError()
    files.push({ path, file })
  }
}

async function childrenOf(directory) {
  const reader = directory.createReader()
  const children = []
  for (;;) {
    // A reader answers in batches, the last of which is empty.
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (batch.length === 0) return children
    children.push(...batch)
  }
}

function isJson({ name }) {
  return name.endsWith('.json')
}

export class TooManyFilesError extends Error {
  name = 'TooManyFilesError'

  constructor() {
    super(
      `There are more than ${formatNumber(MOST_FILES)} JSON files in it. Drop the folder of one session, or the one that holds sessions.`,
    )
  }
}
