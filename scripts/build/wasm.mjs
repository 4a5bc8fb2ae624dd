// Builds pkg/ from the Rust sources: the optimised WebAssembly modules and their JavaScript bindings.
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runTool } from '../setup/npm.mjs'
import { rust } from '../setup/rust.mjs'
import { onlyWhenChanged } from '../setup/stamps.mjs'
import { root, run, step } from '../setup/steps.mjs'
import { wasmBindgen } from '../setup/wasm-bindgen.mjs'
import { useOwnMicrotasks } from './microtasks.mjs'
import { shortenNames } from './short-names.mjs'

/** The modules by the names of their files in pkg/, and the Cargo packages that they are built from. */
const MODULES = { peteos_session: 'peteos-session', peteos_session_providers: 'peteos-providers' }

/** PETEOS_SESSION_BUILD=quick builds in seconds, for work on the Rust code. The module is large and slow: do not release it. */
export const isQuick = process.env.PETEOS_SESSION_BUILD === 'quick'
const profile = isQuick ? 'quick' : 'release'

// The features that rustc enables by default for this target, and those that .cargo/config.toml adds.
const WASM_FEATURES = [
  'bulk-memory',
  'multivalue',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'sign-ext',
  'simd',
].map((feature) => `--enable-${feature}`)

export async function buildWasm() {
  const work = {
    inputs: [
      ...[
        'Cargo.toml',
        'Cargo.lock',
        '.cargo',
        'crates',
        'src',
        'package-lock.json',
        'scripts/build/wasm.mjs',
        'scripts/build/microtasks.mjs',
        'scripts/build/short-names.mjs',
      ],
      ...['scripts/setup/rust.mjs', 'scripts/setup/rust-debian.mjs', 'scripts/setup/rust-installed.mjs'],
    ],
    values: [process.env.PETEOS_SESSION_RUST ?? null, profile],
    outputs: ['pkg'],
  }
  return onlyWhenChanged('wasm', work, async () => {
    const toolchain = await rust()
    const { cli } = await wasmBindgen()
    await step('compiling the Rust library to WebAssembly', () => compile(toolchain))
    await step('generating its JavaScript bindings', () => forEachModule(bind(cli, toolchain)))
    if (!isQuick) await step('optimising the WebAssembly modules (about a minute)', () => forEachModule(optimise))
    await step('shortening the names of imports and exports', () => forEachModule(shorten))
  })
}

async function compile({ cargo, sourceFolders }) {
  // Cargo adds these flags to those in .cargo/config.toml; flags in the environment would replace them.
  const config = `target.wasm32-unknown-unknown.rustflags=${JSON.stringify(await portablePaths(sourceFolders))}`
  const packages = Object.values(MODULES).flatMap((name) => ['-p', name])
  await cargo(['build', '--profile', profile, '--lib', ...packages, '--config', config], { wasm: true })
}

/** Compiler flags that keep local paths out of the panic messages in the module. */
async function portablePaths(sourceFolders) {
  const registry = join(process.env.CARGO_HOME || join(homedir(), '.cargo'), 'registry', 'src')
  const registries = await readdir(registry).catch(() => [])
  const remap = (from, to) => `--remap-path-prefix=${from}=${to}`
  return [
    remap(root.replace(/[\\/]$/, ''), '.'),
    ...registries.map((name) => remap(join(registry, name), 'crates')),
    ...sourceFolders.map((folder) => remap(folder, 'rust')),
  ]
}

async function forEachModule(work) {
  for (const [name, crate] of Object.entries(MODULES)) await work(name, crate)
}

const moduleFile = (name) => join(root, 'pkg', `${name}_bg.wasm`)
const bindingsFile = (name) => join(root, 'pkg', `${name}.js`)

const bind =
  (cli, { wasmTargetDir }) =>
  async (name, crate) => {
    await run(cli, [
      join(wasmTargetDir, profile, `${crate.replaceAll('-', '_')}.wasm`),
      '--target',
      'web',
      '--out-dir',
      join(root, 'pkg'),
      '--out-name',
      name,
      // The entry points hold the URL of the module; a second one in the bindings would make bundlers include it twice.
      '--omit-default-module-path',
    ])
    // Only the main module is asynchronous.
    if (name === 'peteos_session') await useOwnMicrotasks(bindingsFile(name))
  }

async function optimise(name) {
  // Functions marked as not inlined must stay so: the engine replaces the code of a loop between two calls of a function.
  const inlining = '--one-caller-inline-max-function-size=0'
  await runTool('binaryen', 'wasm-opt', ['-O3', inlining, ...WASM_FEATURES, moduleFile(name), '-o', moduleFile(name)])
}

function shorten(name) {
  return shortenNames(moduleFile(name), bindingsFile(name), WASM_FEATURES)
}
