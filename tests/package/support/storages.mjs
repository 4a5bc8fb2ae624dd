// Storage adapters that record their calls, fail on demand, and wait on demand.
import { createHash } from 'node:crypto'

/** Keeps files in memory; `calls` lists its calls, such as `write agents/x/session.json`. */
export class RecordingStorage {
  calls = []
  files = new Map()

  constructor(files = {}) {
    for (const [path, data] of Object.entries(files)) this.put(path, data)
  }

  put(path, data) {
    this.files.set(path, typeof data === 'string' ? new TextEncoder().encode(data) : data)
  }

  text(path) {
    const data = this.files.get(path)
    return data === undefined ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(data)
  }

  /** All files as text, by path. */
  texts() {
    return Object.fromEntries([...this.files.keys()].map((path) => [path, this.text(path)]))
  }

  /** The calls since the last time. */
  takeCalls() {
    return this.calls.splice(0)
  }

  async read(path) {
    await this.called('read', path)
    return this.files.get(path) ?? null
  }

  async write(path, data) {
    await this.called('write', path)
    this.files.set(path, data.slice())
  }

  async list(directory) {
    await this.called('list', directory)
    const prefix = `${directory}/`
    const inside = [...this.files.keys()].filter((path) => path.startsWith(prefix))
    return [...new Set(inside.map((path) => path.slice(prefix.length).split('/')[0]))]
  }

  async remove(path) {
    await this.called('remove', path)
    this.files.delete(path)
  }

  /** Runs before each call; subclasses override it. */
  async before() {}

  async called(method, path) {
    this.calls.push(`${method} ${path}`)
    await this.before(method, path)
  }
}

/** Fails at one call, counted from 1 over all methods. */
export class FailingStorage extends RecordingStorage {
  failAt = 0
  count = 0

  async before(method, path) {
    this.count += 1
    if (this.count !== this.failAt) return
    throw Object.assign(new Error(`${method} fails`), { code: 'ENOSPC', path })
  }
}

/** Does not answer one call, counted from 1 over all methods, and answers the others late; `overdue` is that call. */
export class SilentStorage extends RecordingStorage {
  silentAt = 0
  count = 0
  overdue = null

  async before(method, path) {
    const number = ++this.count
    await new Promise((resolve) => setImmediate(resolve))
    if (number !== this.silentAt) return
    this.overdue = { method, path }
    await new Promise(() => undefined)
  }

  async digest(path) {
    await this.called('digest', path)
    const data = this.files.get(path)
    return data === undefined ? null : createHash('sha256').update(data).digest('hex')
  }

  async modifiedTime(path) {
    await this.called('modifiedTime', path)
    return this.files.has(path) ? 0 : null
  }

  async lock(directory, work) {
    await this.called('lock', directory)
    return work()
  }
}

/** Its writes wait until `open()`; `reached` resolves when the first of them waits. */
export class GatedStorage extends RecordingStorage {
  #opened = withResolvers()
  #reached = withResolvers()
  reached = this.#reached.promise

  open() {
    this.#opened.resolve()
  }

  async before(method) {
    if (method !== 'write') return
    this.#reached.resolve()
    await this.#opened.promise
  }
}

function withResolvers() {
  let resolve
  const promise = new Promise((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
