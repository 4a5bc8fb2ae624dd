// The files that the package reads at run time in Node: beside its modules or, where a bundler has moved those away, in the
// package that is installed where the process runs.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../errors.js'
import { requireFrom } from '../../node-require.js'
import type { VocabularyName } from '../../wasm/platform.js'
import { addresses, files } from './files.mjs'

/** The path of a file, relative to the modules of the package. */
export type PackageFile =
  | 'peteos_session_bg.wasm'
  | 'peteos_session_providers_bg.wasm'
  | `encodings/${VocabularyName}.bin`

/** How each file is read. */
export type PackageFiles = Readonly<Record<PackageFile, () => Uint8Array>>

/** Where each file is, if it is at an address. */
export type PackageAddresses = Readonly<Partial<Record<PackageFile, () => URL>>>

/** The version of the package, set by the build. */
declare const PACKAGE_VERSION: string

/**
 * Reads a file of the package.
 *
 * @throws {Error} if there is none; the message says what to do, and `code` is that of the file system.
 */
export function readPackageFile(file: PackageFile): Uint8Array {
  try {
    return files[file]()
  } catch (cause) {
    const built = findBuiltByNext(file)
    if (built !== undefined) return readFileSync(built)
    const found = findInstalled()
    if (found?.version === PACKAGE_VERSION) return readFileSync(join(found.folder, 'dist', file))
    const other = found === undefined ? '' : ` ${found.folder} has version ${found.version}, not ${PACKAGE_VERSION}.`
    const remedies =
      `If a bundler moved the code of peteos-session, mark peteos-session as external, or copy ${file} ` +
      `from the folder dist/ of the package to the folder of the bundle, or import ${embedded(file)}.`
    const { code } = cause as NodeJS.ErrnoException
    throw Object.assign(new Error(`${messageOf(cause)}.${other} ${remedies}`, { cause }), { code })
  }
}

/** The entry that holds the file as code. */
function embedded(file: PackageFile): string {
  const name = /^encodings\/(.*)\.bin$/.exec(file)?.[1]
  return name === undefined ? 'peteos-session/inline' : `peteos-session/encodings/${name}`
}

/**
 * With webpack, Next.js replaces the path by the one at which a browser finds the file. The server has it in the folder of
 * the build.
 */
function findBuiltByNext(file: PackageFile): string | undefined {
  try {
    const path = /\/_next\/(.+)$/.exec(addresses[file]?.().pathname ?? '')?.[1]
    if (path === undefined) return undefined
    // Not `process.cwd()`: tracers would take everything below it.
    const { cwd } = process
    return ['.next', '.next/server/chunks']
      .map((folder) => join(cwd(), folder, path))
      .find((place) => existsSync(place))
  } catch {
    return undefined
  }
}

/** The package that the working directory resolves to. */
function findInstalled(): { readonly folder: string; readonly version: string } | undefined {
  try {
    const manifest = requireFrom(`${process.cwd()}/index.js`).resolve('peteos-session/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
    return { folder: dirname(manifest), version }
  } catch {
    return undefined
  }
}
