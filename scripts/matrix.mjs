// `npm run test:matrix`: uses the packed package in every environment of tests/matrix/ (all, or those named as arguments), and
// counts the checks. What an environment needs is installed for it alone, under target/matrix/.
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { closeBrowser } from './matrix/browser.mjs'
import { Checks } from './matrix/checks.mjs'
import { pack, prepare } from './matrix/folders.mjs'
import { root, SetupError, say, seconds, whenRun } from './setup/steps.mjs'

const environments = join(root, 'tests', 'matrix')

async function chooseEnvironments(names) {
  const entries = await readdir(environments, { withFileTypes: true })
  const known = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('_')).map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new SetupError(`Unknown: ${unknown.join(', ')}. The environments are ${known.join(', ')}.`)
  return names.length === 0 ? known : names
}

/** Runs one environment; its failure does not stop the others. */
async function runEnvironment(name, tarball, checks) {
  const started = Date.now()
  say(`${name} ...`)
  try {
    const { environment } = await import(pathToFileURL(join(environments, name, 'environment.mjs')).href)
    const folder = await prepare(name, environment, tarball)
    await environment.run({ folder, tarball, check: (title, work) => checks.run(`${name}: ${title}`, work) })
    if (environment.fresh) await rm(folder, { recursive: true, force: true })
  } catch (error) {
    checks.fail(`${name}: preparation`, error)
  }
  say(`${name}: done in ${seconds(started)}`)
}

await whenRun(import.meta.url, async () => {
  const names = await chooseEnvironments(process.argv.slice(2))
  await build()
  const target = join(root, 'target', 'matrix')
  await rm(join(target, 'package'), { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  const tarball = await pack(target)
  const checks = await Checks.create()
  for (const name of names) await runEnvironment(name, tarball, checks)
  await closeBrowser()
  if (!checks.report()) process.exitCode = 1
})
