// The folder of an environment, target/matrix/<name>: its files, the packages that it needs, and the packed package.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npmCommand } from '../setup/npm.mjs'
import { root, run } from '../setup/steps.mjs'

const matrix = join(root, 'tests', 'matrix')
const target = join(root, 'target', 'matrix')
/** The packed package, unpacked. */
const unpacked = join(target, 'package')

/** Packs the package as npm publishes it and unpacks it; resolves to the path of the tarball. */
export async function pack(folder) {
  const output = await npm(root, ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    capture: true,
  })
  const [{ filename }] = JSON.parse(output)
  const tarball = join(folder, filename)
  await run('tar', ['-xzf', tarball, '-C', folder])
  return tarball
}

/**
 * Makes the folder of an environment; resolves to its path. `packages` are installed when they change. With `install`, the
 * environment itself installs them, with the tarball, as a package manager under test does. With `fresh`, the folder is new and
 * outside the repository, whose own files some tools would find.
 */
export async function prepare(name, { packages = {}, manifest = {}, install, fresh }, tarball) {
  const folder = fresh ? await mkdtemp(join(tmpdir(), `peteos-session-${name}-`)) : join(target, name)
  const json = `${JSON.stringify({ private: true, ...manifest, dependencies: packages }, null, 2)}\n`
  const stamp = join(folder, 'installed.json')
  if ((await readFile(stamp, 'utf8').catch(() => null)) !== json) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), json)
    if (!install) {
      await npm(folder, [
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        '--no-package-lock',
        '--legacy-peer-deps',
      ])
    }
    await writeFile(stamp, json)
  } else {
    await removeResults(folder)
  }
  await copyFiles(name, folder)
  await writeFile(join(folder, 'package.json'), json)
  if (install) await install({ folder, tarball })
  else await replace(unpacked, join(folder, 'node_modules', 'peteos-session'))
  return folder
}

async function removeResults(folder) {
  for (const name of await readdir(folder)) {
    if (name !== 'node_modules' && name !== 'installed.json')
      await rm(join(folder, name), { recursive: true, force: true })
  }
  // Tools keep what they made of the package before.
  await rm(join(folder, 'node_modules', '.cache'), { recursive: true, force: true })
  await rm(join(folder, 'node_modules', '.vite'), { recursive: true, force: true })
}

async function copyFiles(name, folder) {
  await cp(join(matrix, '_apps'), folder, { recursive: true })
  await cp(join(matrix, name), folder, { recursive: true })
  const scenario = await readFile(join(folder, 'scenario.mjs'), 'utf8')
  const { transform } = await import('esbuild')
  await writeFile(join(folder, 'scenario.cjs'), (await transform(scenario, { format: 'cjs' })).code)
}

/** Copies the files of the package that a bundle reads at run time to the folder of the bundle. */
export async function copyFilesOfPackage(folder, to) {
  const dist = join(folder, 'node_modules', 'peteos-session', 'dist')
  for (const file of ['peteos_session_bg.wasm', 'peteos_session_providers_bg.wasm', 'encodings']) {
    await cp(join(dist, file), join(to, file), { recursive: true })
  }
}

async function replace(from, to) {
  await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  await cp(from, to, { recursive: true })
}

export async function npm(cwd, args, options = {}) {
  const [program, ...first] = npmCommand()
  return run(program, [...first, ...args], { cwd, ...options })
}
