// Rust for the host, as it is installed, and Rust for WebAssembly, by one of two ways.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { mayInstallPackages } from './apt.mjs'
import { findProgram } from './programs.mjs'
import { debianRust } from './rust-debian.mjs'
import { once, root, run, SetupError, say, step } from './steps.mjs'

const TARGET = 'wasm32-unknown-unknown'
const RUST_HINT = 'Rust 1.86 or newer is needed; install it with rustup: https://rustup.rs'

/** Runs the host's Cargo. */
export async function hostCargo(args, options) {
  return run('cargo', args, { hint: RUST_HINT, ...options })
}

/**
 * Rust for wasm32-unknown-unknown, made ready when it is not. PETEOS_SESSION_RUST=rustup|debian forces a way.
 * - `cargo(args, options?)` runs `cargo <args>` for the target;
 * - `invocation(args, env?)` resolves to how to do so: { program, args, env };
 * - `targetDir` is where the results are, `sourceFolders` where the standard library was built from, if it was.
 */
export const wasmRust = once(async () => {
  const toolchain = await chooseToolchain(process.env.PETEOS_SESSION_RUST)
  async function invocation([subcommand, ...rest], env = {}) {
    const { program, flags } = await toolchain.command(subcommand)
    return {
      program,
      args: [subcommand, '--target', TARGET, ...flags, ...rest],
      env: { ...process.env, ...toolchain.env, ...env },
    }
  }
  async function cargo(cargoArgs, options = {}) {
    const { program, args, env } = await invocation(cargoArgs, options.env)
    return run(program, args, { ...options, env })
  }
  return {
    cargo,
    invocation,
    targetDir: resolve(toolchain.targetDir, TARGET),
    sourceFolders: toolchain.sourceFolders,
  }
})

async function chooseToolchain(forced) {
  if (forced === 'debian') return debianRust()
  if (forced === 'rustup') return installedRust()
  if (forced) throw new SetupError(`PETEOS_SESSION_RUST is "${forced}"; it can be "rustup" or "debian".`)
  try {
    return await installedRust()
  } catch (error) {
    if (!mayInstallPackages()) throw error
    say(`${error.message}\nTaking Debian's Rust for ${TARGET} instead.`)
    return debianRust()
  }
}

/** The Rust on the PATH, with the target's standard library added by rustup when it is missing. */
async function installedRust() {
  const libraries = await run('rustc', ['--print', 'target-libdir', '--target', TARGET], {
    capture: true,
    hint: RUST_HINT,
  })
  if (!existsSync(libraries.trim())) await addTarget()
  return {
    command: () => ({ program: 'cargo', flags: [] }),
    env: {},
    targetDir: resolve(root, process.env.CARGO_TARGET_DIR ?? 'target'),
    sourceFolders: [],
  }
}

async function addTarget() {
  const hint = `The Rust target ${TARGET} is missing: get it with \`rustup target add ${TARGET}\`.`
  if (!findProgram(['rustup'])) throw new SetupError(`${hint} ${RUST_HINT}`)
  await step(`adding the Rust target ${TARGET}`, () => run('rustup', ['target', 'add', TARGET], { hint }))
}
