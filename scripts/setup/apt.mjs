// Debian's packages, for bare machines where the ordinary ways to get a tool are closed.
import { existsSync } from 'node:fs'
import { findProgram } from './programs.mjs'
import { run, step } from './steps.mjs'

/** Whether this machine is a Debian whose packages we may install. */
export function mayInstallPackages() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0 && findProgram(['apt-get']) !== null
}

/** Installs packages; never removes one that is there, not even for a conflict. */
export async function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await step(`installing Debian's ${packages.join(', ')}`, async () => {
    await run('apt-get', ['update', '-q'], { env })
    await run('apt-get', ['install', '-q', '-y', '--no-install-recommends', '--no-remove', ...packages], { env })
  })
}
