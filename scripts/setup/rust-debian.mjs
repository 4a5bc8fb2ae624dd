// Sets up Debian's Rust with its library source, from which Cargo builds the standard library for WebAssembly: for machines
// where rustup is missing or cannot fetch the target.
import { readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ensurePackages } from './apt.mjs'
import { canRun } from './programs.mjs'
import { root, run, SetupError } from './steps.mjs'

const COMPILER = ['rustc-web', 'cargo-web', 'rust-web-src', 'rust-web-llvm']
/** The packages of subcommands that are not part of Cargo's own. */
const SUBCOMMANDS = { clippy: 'rust-web-clippy', fmt: 'rustfmt-web' }
const LINKER = '/usr/bin/rust-lld'

export async function debianToolchain() {
  await ensurePackages(COMPILER)
  await ensureLinker(LINKER)
  const sysroot = (await run('/usr/bin/rustc', ['--print', 'sysroot'], { capture: true })).trim()
  // A folder of its own: two compilers in one folder would invalidate each other's results.
  const targetDir = join(root, 'target', 'debian')
  return {
    env: { CARGO: '/usr/bin/cargo', RUSTC: '/usr/bin/rustc', RUSTDOC: '/usr/bin/rustdoc', CARGO_TARGET_DIR: targetDir },
    programFor,
    wasm: {
      // -Zbuild-std is unstable; RUSTC_BOOTSTRAP lets a stable compiler accept it.
      env: { RUSTC_BOOTSTRAP: '1', CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: LINKER },
      flagsFor: (subcommand) => [
        `-Zbuild-std=std,panic_abort${['test', 'clippy'].includes(subcommand) ? ',test' : ''}`,
      ],
    },
    targetDir,
    sourceFolders: [join(sysroot, 'lib', 'rustlib', 'src', 'rust')],
  }
}

async function programFor(subcommand) {
  if (!(subcommand in SUBCOMMANDS)) return '/usr/bin/cargo'
  await ensurePackages([SUBCOMMANDS[subcommand]])
  // Called by its path: `cargo clippy` would find rustup's first.
  return `/usr/bin/cargo-${subcommand}`
}

/** The linker is a link to one of LLVM (lld-22), whose package Debian's Rust does not depend on. */
export async function ensureLinker(path) {
  if (canRun(path)) return
  await ensurePackages([basename(readlinkSync(path))])
  if (!canRun(path)) throw new SetupError(`${path} links to a program that is missing; reinstall rust-web-llvm.`)
}
