// Turns picked or dropped files into a list of { path, file }, with paths relative to the selection.
import { formatNumber } from './format.js'

/** More than this is a home directory or a project, not a session. */
const MOST_FILES = 20_000

/** The files of an `<input type="file">`. */
export function pickedFiles(input) {
  return [...input.files].filter(isJson).map((file) => ({ path: file.webkitRelativePath || file.name, file }))
}

/** The files of a drop, including those in nested folders. */
export async function droppedFiles(dataTransfer) {
  // The items exist only while the event is handled: take them all before awaiting the first.
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
    // A reader returns batches, the last of which is empty.
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
      `The selection has more than ${formatNumber(MOST_FILES)} JSON files. Open the folder of one session, or a folder of sessions.`,
    )
  }
}
