// The package as a user gets it: packed by npm, and installed from the tarball into an empty folder. This happens once for
// each content of the package; later runs only compare a hash.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { npmCommand } from '../../../scripts/setup/npm.mjs'

/** The repository. */
export const root = fileURLToPath(new URL('../../../', import.meta.url))
const cache = join(root, 'target', 'package-test')
const PACKED = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'bench/README.md', 'docs', 'dist']
const KEPT_INSTALLS = 3

/** The folder with `node_modules/peteos-session`: resolve from here, and start child processes here. */
export const folder = install()
export const packageDir = join(folder, 'node_modules', 'peteos-session')
/** The paths of the files in the tarball, relative to the package. */
export const packedFiles = JSON.parse(readFileSync(join(folder, 'packed-files.json'), 'utf8'))

/** `require`, as in a CommonJS module in the folder. */
export const require = createRequire(join(folder, 'index.cjs'))

/** `import()`, as in an ES module in the folder. */
export const { load } = await import(pathToFileURL(join(folder, 'load.mjs')).href)

function install() {
  if (!existsSync(join(root, 'dist', 'index.cjs')))
    throw new Error('dist/ is missing: run `node scripts/build.mjs` first')
  const hash = contentHash()
  const target = join(cache, hash)
  if (existsSync(target)) return target
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'tmp-'))
  const tarballs = join(work, 'tarballs')
  mkdirSync(tarballs)
  const packed = JSON.parse(npm(root, ['pack', '--ignore-scripts', '--json', '--pack-destination', tarballs]))[0]
  writeFileSync(join(work, 'packed-files.json'), JSON.stringify(packed.files.map((file) => file.path)))
  writeFileSync(join(work, 'package.json'), '{ "private": true }\n')
  writeFileSync(join(work, 'load.mjs'), 'export const load = (specifier) => import(specifier)\n')
  const tarball = join('tarballs', readdirSync(tarballs)[0])
  if (contentHash() !== hash) throw new Error('dist/ changed while it was packed: another build is running')
  npm(work, [
    'install',
    '--offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    `./${tarball}`,
  ])
  try {
    renameSync(work, target)
  } catch (error) {
    // Another test file was first: its folder has the same content.
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  removeOldInstalls(target)
  return target
}

function npm(cwd, args) {
  const [program, ...first] = npmCommand()
  return execFileSync(program, [...first, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function contentHash() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const file of PACKED.flatMap((name) => filesUnder(join(root, name))).sort()) {
    hash.update(`\n${relative(root, file)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 16)
}

/** The files in a folder and below it; a file itself; none if nothing exists. */
export function filesUnder(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path).flatMap((name) => filesUnder(join(path, name)))
}

function removeOldInstalls(current) {
  const age = (path) => statSync(path).mtimeMs
  readdirSync(dirname(current))
    .map((name) => join(cache, name))
    .filter((path) => path !== current && /^[0-9a-f]{16}$/.test(relative(cache, path)))
    .sort((one, other) => age(other) - age(one))
    .slice(KEPT_INSTALLS - 1)
    .forEach((path) => rmSync(path, { recursive: true, force: true }))
}
