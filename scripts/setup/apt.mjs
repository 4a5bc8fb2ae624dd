// Installs Debian packages, on bare machines without another source of a tool.
import { existsSync } from 'node:fs'
import { findProgram } from './programs.mjs'
import { run, SetupError, step } from './steps.mjs'

/** Whether this is Debian and the user may install packages. */
export function mayInstallPackages() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0 && findProgram(['apt-get']) !== null
}

/** Installs the missing ones of these packages. */
export async function ensurePackages(packages) {
  if (await areInstalled(packages)) return
  if (!mayInstallPackages()) {
    throw new SetupError(`Debian packages are missing; run as root: apt-get install ${packages.join(' ')}`)
  }
  await installPackages(packages)
}

/** Installs packages. Never removes an installed one, not even to resolve a conflict. */
export async function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Another apt may be running, as it often is on a machine that has just started.
  const apt = (...args) => run('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300', ...args], { env })
  await step(`installing Debian's ${packages.join(', ')}`, async () => {
    await apt('update')
    await apt('install', '--no-install-recommends', '--no-remove', ...packages)
  })
}

async function areInstalled(packages) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query fills it in
  const format = '${db:Status-Status}\n'
  try {
    const status = await run('dpkg-query', ['-W', '-f', format, ...packages], { capture: true })
    return status
      .trim()
      .split('\n')
      .every((line) => line === 'installed')
  } catch {
    return false
  }
}
