// Rust links the programs of this machine with its C compiler.
import { installPackages, mayInstallPackages } from './apt.mjs'
import { hintFor } from './hints.mjs'
import { findProgram } from './programs.mjs'
import { SetupError } from './steps.mjs'

/** On Windows, rustc finds its linker itself, or reports what to install. */
export async function ensureCompiler() {
  const isThere = () => process.platform === 'win32' || findProgram(['cc']) !== null
  if (isThere()) return
  if (mayInstallPackages()) await installPackages(['gcc', 'libc6-dev'])
  if (!isThere())
    throw new SetupError(`Rust needs a C compiler to link programs, and \`cc\` was not found. ${hintFor('compiler')}`)
}
