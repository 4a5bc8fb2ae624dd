// What a disk may hold after a crash, from the system calls until then. A model that is weaker than real file systems:
// - What was written to a file since its last fsync may be there, be cut off at any byte, be zero, or be absent.
// - Each change of a directory since its last fsync may be there or not, independently of all others, even of the earlier ones
//   in the same directory. A rename within a directory is one change.
// - Only an fsync orders anything: that of a file its contents, that of a directory its entries.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

class File {
  pending = []
  synced = Buffer.alloc(0)

  get current() {
    return this.pending.reduce(changed, this.synced)
  }
  sync() {
    this.synced = this.current
    this.pending = []
  }
}

class Directory {
  pending = []
  synced = new Map()

  get current() {
    return this.pending.reduce(moved, new Map(this.synced))
  }
  sync() {
    this.synced = this.current
    this.pending = []
  }
}

function changed(contents, { at, data, length }) {
  if (length !== undefined) return Buffer.concat([contents, Buffer.alloc(length)]).subarray(0, length)
  const result = Buffer.alloc(Math.max(contents.length, at + data.length))
  contents.copy(result)
  data.copy(result, at)
  return result
}

function moved(entries, { removed, name, node }) {
  if (removed !== undefined) entries.delete(removed)
  if (name !== undefined) entries.set(name, node)
  return entries
}

/** A disk to which recorded calls are applied one after the other. */
export class Disk {
  #root = new Directory()
  #top
  #open = new Map()

  constructor(top) {
    this.#top = top
  }

  apply({ call, ...details }) {
    this[call](details)
  }

  open({ file, created, truncated, path }) {
    if (created) this.#node(dirname(path)).pending.push({ name: nameOf(path), node: new File() })
    const node = this.#node(path)
    if (truncated && !created) node.pending.push({ length: 0 })
    this.#open.set(file, { node, position: 0 })
  }
  write({ file, offset, data }) {
    const open = this.#open.get(file)
    const at = offset < 0 ? open.position : offset
    open.node.pending.push({ at, data })
    if (offset < 0) open.position += data.length
  }
  truncate({ file, length }) {
    this.#open.get(file).node.pending.push({ length })
  }
  fsync({ file }) {
    this.#open.get(file).node.sync()
  }
  mkdir({ path }) {
    this.#node(dirname(path)).pending.push({ name: nameOf(path), node: new Directory() })
  }
  unlink({ path }) {
    this.#node(dirname(path)).pending.push({ removed: nameOf(path) })
  }
  rmdir(details) {
    this.unlink(details)
  }
  rename({ path, other }) {
    if (dirname(path) !== dirname(other)) throw new Error(`not modelled: a rename from ${path} to ${other}`)
    const directory = this.#node(dirname(path))
    directory.pending.push({ removed: nameOf(path), name: nameOf(other), node: this.#node(path) })
  }
  link({ path, other }) {
    this.#node(dirname(other)).pending.push({ name: nameOf(other), node: this.#node(path) })
  }

  /** Everything so far is on disk. */
  settle(node = this.#root) {
    node.sync()
    if (node instanceof Directory) for (const entry of node.synced.values()) this.settle(entry)
  }

  /** Writes one of the possible states into a folder. */
  writeState(folder, random) {
    // How much of what was not synced is there differs between crashes, so that the extremes occur as well.
    const kept = random.pick([0, 0.25, 0.5, 0.75, 1])
    writeDirectory(this.#root, folder, random, kept)
  }

  #node(path) {
    const parts = relative(this.#top, path).split('/').filter(Boolean)
    return parts.reduce((node, name) => node.current.get(name), this.#root)
  }
}

const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1)

function writeDirectory(directory, folder, random, kept) {
  const changes = directory.pending.filter(() => random.next() < kept)
  for (const [name, node] of changes.reduce(moved, new Map(directory.synced))) {
    const path = join(folder, name)
    if (node instanceof File) {
      writeFileSync(path, contentsAfterCrash(node, random))
      continue
    }
    mkdirSync(path)
    writeDirectory(node, path, random, kept)
  }
}

function contentsAfterCrash(file, random) {
  if (file.pending.length === 0) return file.synced
  const written = file.pending.slice(0, 1 + random.below(file.pending.length)).reduce(changed, file.synced)
  const from = random.below(written.length + 1)
  const kinds = {
    absent: () => file.synced,
    written: () => written,
    cut: () => written.subarray(0, from),
    zeros: () => Buffer.concat([written.subarray(0, from), Buffer.alloc(written.length - from)]),
    empty: () => Buffer.alloc(0),
  }
  return kinds[random.pick(Object.keys(kinds))]()
}

/** The calls in a log of preload.c, oldest first. */
export function recordedCalls(log) {
  return log
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [call, ...fields] = line.split('\t')
      return { call, ...FIELDS[call](...fields) }
    })
}

const FIELDS = {
  mark: (text) => ({ text }),
  open: (file, created, truncated, path) => ({ file, created: created === '1', truncated: truncated === '1', path }),
  write: (file, offset, data) => ({ file, offset: Number(offset), data: Buffer.from(data, 'hex') }),
  truncate: (file, length) => ({ file, length: Number(length) }),
  fsync: (file) => ({ file }),
  mkdir: (path) => ({ path }),
  rmdir: (path) => ({ path }),
  unlink: (path) => ({ path }),
  rename: (path, other) => ({ path, other }),
  link: (path, other) => ({ path, other }),
}
