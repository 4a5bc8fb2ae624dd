// Installs the command line tools of wasm-bindgen. Their version must be exactly that of the crate.
import { join } from 'node:path'
import { findCrate } from './crates.mjs'
import { executable, findProgram } from './programs.mjs'
import { rust } from './rust.mjs'
import { once, root, run, step } from './steps.mjs'

const tools = join(root, 'target', 'tools')
const PROGRAMS = ['wasm-bindgen', 'wasm-bindgen-test-runner']

/** The full paths of the tools: { cli, testRunner }. */
export const wasmBindgen = once(async () => {
  const { version } = await findCrate('wasm-bindgen')
  const own = PROGRAMS.map((name) => join(tools, 'bin', executable(name)))
  const onPath = PROGRAMS.map((name) => findProgram([name]))
  const [cli, testRunner] = (await findVersion(version, [own, onPath])) ?? (await install(version, own))
  return { cli, testRunner }
})

async function findVersion(version, candidates) {
  for (const programs of candidates) {
    const versions = await Promise.all(programs.map(versionOf))
    if (versions.every((found) => found === version)) return programs
  }
  return null
}

async function versionOf(program) {
  if (!program) return null
  try {
    return (await run(program, ['--version'], { capture: true })).trim().split(' ')[1]
  } catch {
    return null
  }
}

/** Builds the tools without optimisation: four times faster to build, and fast enough to use. */
async function install(version, programs) {
  // Not --locked: the lock file that the tools ship names a version that a registry may no longer have.
  const args = ['install', '--debug', '--force', 'wasm-bindgen-cli', '--version', version, '--root', tools]
  const { cargo } = await rust()
  await step(`installing wasm-bindgen-cli ${version} (about 2 minutes)`, () =>
    cargo([...args, '--target-dir', join(root, 'target', 'tools-build')], {
      hint: `wasm-bindgen-cli ${version} could not be built: see Cargo's messages above. Without a network, put its programs on the PATH.`,
    }),
  )
  return programs
}
