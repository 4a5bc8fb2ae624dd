// Debian's packages, for bare machines without another way to get a tool.
import { existsSync } from 'node:fs'
import { findProgram } from './programs.mjs'
import { run, SetupError, step } from './steps.mjs'

/** Whether this is a Debian on which packages may be installed. */
export function mayInstallPackages() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0 && findProgram(['apt-get']) !== null
}

/** Installs those of the packages that are missing. */
export async function ensurePackages(packages) {
  if (await areInstalled(packages)) return
  if (!mayInstallPackages()) {
    throw new SetupError(`Packages of Debian are missing; run as root: apt-get install ${packages.join(' ')}`)
  }
  await installPackages(packages)
}

/** Installs packages; never removes one that is there, not even for a conflict. */
export async function installPackages(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Another apt may be at work, as it is on a machine that has just started.
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
