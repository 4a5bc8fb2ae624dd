// Uses the Rust on the PATH. If that is rustup without a toolchain, as after `apt-get install rustup`, one is installed and
// named in each call, so that the user's default does not change.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { hintFor } from './hints.mjs'
import { findProgram } from './programs.mjs'
import { root, run, SetupError, step } from './steps.mjs'

export const TARGET = 'wasm32-unknown-unknown'
const MINIMUM = '1.86'

export async function installedToolchain() {
  const env = await environment()
  await ensureTarget(env)
  return {
    env,
    programFor: () => 'cargo',
    wasm: { env: {}, flagsFor: () => [] },
    targetDir: resolve(root, process.env.CARGO_TARGET_DIR ?? 'target'),
    sourceFolders: [],
  }
}

/** The variables that select a toolchain: none if the default one serves. */
async function environment() {
  const version = await versionOf({})
  if (isEnough(version)) return {}
  const problem = version === null ? 'was not found' : `is version ${version}`
  if (!findProgram(['rustup'])) {
    throw new SetupError(`Rust ${MINIMUM} or newer is needed, but Rust ${problem}. ${hintFor('rust')}`)
  }
  for (const name of await toolchainNames()) {
    const env = { RUSTUP_TOOLCHAIN: name }
    if (isEnough(await versionOf(env))) return env
  }
  const args = [
    'toolchain',
    'install',
    'stable',
    '--no-self-update',
    '--profile',
    'minimal',
    '-c',
    'clippy',
    '-c',
    'rustfmt',
  ]
  const hint = `rustup could not install a toolchain; it needs a network. ${hintFor('rust')}`
  await step('installing the stable Rust toolchain with rustup', () => run('rustup', args, { hint }))
  return { RUSTUP_TOOLCHAIN: 'stable' }
}

async function ensureTarget(env) {
  const variables = { ...process.env, ...env }
  const args = ['--print', 'target-libdir', '--target', TARGET]
  const libraries = (await run('rustc', args, { capture: true, env: variables })).trim()
  if (existsSync(libraries)) return
  if (!findProgram(['rustup'])) {
    throw new SetupError(`The Rust on the PATH lacks the target ${TARGET}. ${hintFor('rust')}`)
  }
  const hint = `Add the Rust target by hand: rustup target add ${TARGET}`
  await step(`adding the Rust target ${TARGET}`, () =>
    run('rustup', ['target', 'add', TARGET], { hint, env: variables }),
  )
}

/** The version of Cargo and the compiler; null where either does not run, as behind a shim without a toolchain. */
async function versionOf(env) {
  const version = async (program) => {
    const output = await run(program, ['--version'], { capture: true, env: { ...process.env, ...env } })
    return output.split(' ')[1]
  }
  try {
    await version('cargo')
    return await version('rustc')
  } catch {
    return null
  }
}

function isEnough(version) {
  if (version === null) return false
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = MINIMUM.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

async function toolchainNames() {
  const list = await run('rustup', ['toolchain', 'list'], { capture: true }).catch(() => '')
  return list.split('\n').flatMap((line) => (/^[\w.]+-\S+/.exec(line) ?? []).slice(0, 1))
}
