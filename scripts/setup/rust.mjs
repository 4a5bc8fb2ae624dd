// The Rust toolchain: chosen once, then used for every call, on this machine and for WebAssembly.
import { join } from 'node:path'
import { mayInstallPackages } from './apt.mjs'
import { ensureCompiler } from './c-compiler.mjs'
import { debianToolchain } from './rust-debian.mjs'
import { installedToolchain, TARGET } from './rust-installed.mjs'
import { once, run, SetupError, say } from './steps.mjs'

/**
 * The toolchain, installed if necessary; PETEOS_SESSION_RUST=rustup|debian forces one.
 * - `cargo(args, options?)` runs Cargo; the option `wasm` makes it work for wasm32-unknown-unknown;
 * - `invocation(args, options?)` resolves to how to do so: { program, args, env };
 * - `wasmTargetDir` holds the results for WebAssembly; `sourceFolders` are where the standard library is built from, if it is.
 */
export const rust = once(async () => {
  const { env, programFor, wasm, targetDir, sourceFolders } = await choose(process.env.PETEOS_SESSION_RUST || null)
  async function invocation([subcommand, ...rest], options = {}) {
    const forTarget = options.wasm ? ['--target', TARGET, ...wasm.flagsFor(subcommand)] : []
    return {
      program: await programFor(subcommand),
      args: [subcommand, ...forTarget, ...rest],
      env: { ...process.env, ...env, ...(options.wasm ? wasm.env : {}), ...options.env },
    }
  }
  async function cargo(cargoArgs, { wasm: forWasm, env: variables, ...options } = {}) {
    const { program, args, env } = await invocation(cargoArgs, { wasm: forWasm, env: variables })
    return run(program, args, { ...options, env })
  }
  return { cargo, invocation, wasmTargetDir: join(targetDir, TARGET), sourceFolders }
})

async function choose(forced) {
  if (forced !== null && forced !== 'rustup' && forced !== 'debian') {
    throw new SetupError(`PETEOS_SESSION_RUST is "${forced}": use "rustup" or "debian".`)
  }
  await ensureCompiler()
  if (forced === 'debian') return debianToolchain()
  try {
    return await installedToolchain()
  } catch (error) {
    if (forced === 'rustup' || !(error instanceof SetupError) || !mayInstallPackages()) throw error
    say(`${error.message}\nUsing Debian's Rust instead.`)
    return debianToolchain()
  }
}
