// Installs the npm packages of package-lock.json, which building and testing need.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { onlyWhenChanged } from './stamps.mjs'
import { once, root, run, step } from './steps.mjs'

export const npmPackages = once(() => install('npm', ''))

/** The packages that only the benchmark needs, in a folder of its own: the libraries that it compares with. */
export const benchPackages = once(() => install('npm-bench', 'bench/'))

function install(name, folder) {
  const work = { inputs: [`${folder}package-lock.json`], outputs: [`${folder}node_modules/.package-lock.json`] }
  const hint = 'npm comes with Node (20 or newer). If the registry could not be reached, try again with a network.'
  const [program, ...first] = npmCommand()
  // No package needs its install script here.
  const args = [...first, 'ci', '--ignore-scripts', '--prefix', join(root, folder)]
  return onlyWhenChanged(name, work, () =>
    step(`installing the npm packages of ${work.inputs}`, () => run(program, args, { hint })),
  )
}

/** How to start npm: by its own script if that is found, because `npm` is a command file on Windows. */
export function npmCommand() {
  const node = dirname(process.execPath)
  const candidates = [
    // Under `yarn` and `pnpm` this is their own script.
    process.env.npm_execpath ?? '',
    join(node, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(node, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ]
  const script = candidates.find((path) => basename(path) === 'npm-cli.js' && existsSync(path))
  return script === undefined ? ['npm'] : [process.execPath, script]
}

/** Runs a command of an installed npm package. */
export async function runTool(packageName, command, args, options) {
  await run(process.execPath, [toolScript(packageName, command), ...args], options)
}

/** Runs such a command; resolves to its standard output. */
export async function captureTool(packageName, command, args) {
  return run(process.execPath, [toolScript(packageName, command), ...args], { capture: true })
}

export function toolScript(packageName, command) {
  const folder = join(root, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, bin[command])
}
