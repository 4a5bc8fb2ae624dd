// The second way to Rust for WebAssembly: Debian's compiler with its library source, from which Cargo builds the
// standard library. For machines where rustup cannot fetch the target.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, mayInstallPackages } from './apt.mjs'
import { findProgram } from './programs.mjs'
import { root, run, SetupError } from './steps.mjs'

const COMPILER = ['rustc-web', 'cargo-web', 'rust-web-src']
// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills it in
const STATUS = '${db:Status-Status}\n'
const LINTER = ['rust-web-clippy']

export async function debianRust() {
  await ensurePackages(COMPILER)
  const sysroot = (await run('/usr/bin/rustc', ['--print', 'sysroot'], { capture: true })).trim()
  // Its own folder: the results of two compilers in one would push each other out.
  const targetDir = join(root, 'target', 'debian')
  return {
    command,
    env: {
      // -Zbuild-std is not stable; this lets a stable compiler take it.
      RUSTC_BOOTSTRAP: '1',
      CARGO: '/usr/bin/cargo',
      RUSTC: '/usr/bin/rustc',
      RUSTDOC: '/usr/bin/rustdoc',
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: await findLinker(),
      CARGO_TARGET_DIR: targetDir,
    },
    targetDir,
    sourceFolders: [join(sysroot, 'lib', 'rustlib', 'src', 'rust')],
  }
}

async function command(subcommand) {
  const harness = ['test', 'clippy'].includes(subcommand) ? ',test' : ''
  const flags = [`-Zbuild-std=std,panic_abort${harness}`]
  if (subcommand !== 'clippy') return { program: '/usr/bin/cargo', flags }
  await ensurePackages(LINTER)
  // By its own path: `cargo clippy` would find the one of rustup first.
  return { program: '/usr/bin/cargo-clippy', flags }
}

async function ensurePackages(packages) {
  if (await areInstalled(packages)) return
  if (!mayInstallPackages()) {
    throw new SetupError(
      `Debian's Rust for WebAssembly is missing. As root on Debian: apt-get install ${packages.join(' ')}`,
    )
  }
  await installPackages(packages)
}

async function areInstalled(packages) {
  try {
    const status = await run('dpkg-query', ['-W', '-f', STATUS, ...packages], { capture: true })
    return status
      .trim()
      .split('\n')
      .every((line) => line === 'installed')
  } catch {
    return false
  }
}

/** The linker of the Rust toolchain on the PATH, else the one of Debian's own package. */
async function findLinker() {
  const bundled = await bundledLinker()
  if (bundled) return bundled
  if (!findProgram(['rust-lld'])) await ensurePackages(['rust-web-llvm'])
  return findProgram(['rust-lld'])
}

async function bundledLinker() {
  try {
    const sysroot = (await run('rustc', ['--print', 'sysroot'], { capture: true })).trim()
    const host = /^host: (.+)$/m.exec(await run('rustc', ['-vV'], { capture: true }))[1]
    const linker = join(sysroot, 'lib', 'rustlib', host, 'bin', 'rust-lld')
    return existsSync(linker) ? linker : null
  } catch {
    return null
  }
}
