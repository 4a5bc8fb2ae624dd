import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileError, isAbsent } from './failures.js'

/** The directory that the paths of an adapter are relative to and confined to. */
export class Root {
  readonly #path: string
  readonly #followsLinks: boolean

  constructor(path: string, followsLinks: boolean) {
    this.#path = resolve(path)
    this.#followsLinks = followsLinks
  }

  /** The path of something to read. A link is followed. */
  resolve(path: string): string {
    const target = this.#lexical(path)
    this.#checkLinks(target, path)
    return target
  }

  /** The path of an entry to replace or remove. A link itself is replaced or removed, not its target. */
  resolveEntry(path: string): string {
    const target = this.#lexical(path)
    if (target !== this.#path) this.#checkLinks(dirname(target), path)
    return target
  }

  #lexical(path: string): string {
    const target = resolve(this.#path, path)
    if (isInside(this.#path, target)) return target
    throw fileError('EACCES', path, `${path} is outside of ${this.#path}`)
  }

  #checkLinks(target: string, path: string): void {
    if (this.#followsLinks) return
    const root = real(this.#path)
    const found = real(target)
    if (isInside(root, found)) return
    const message = `${path} leads out of ${this.#path} through a symbolic link: set followLinks to true to allow that`
    throw fileError('EACCES', path, message)
  }
}

/** Resolves the links in the existing part of a path. */
function real(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isAbsent(error) || parent === path) throw error
    return resolve(real(parent), relative(parent, path))
  }
}

function isInside(directory: string, path: string): boolean {
  const inside = relative(directory, path)
  return inside !== '..' && !inside.startsWith(join('..', '/')) && !isAbsolute(inside)
}
