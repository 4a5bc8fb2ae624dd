// The npm packages that build and test: the ones package-lock.json names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onlyWhenChanged } from './stamps.mjs'
import { once, root, run, step } from './steps.mjs'

export const npmPackages = once(() =>
  onlyWhenChanged(
    'npm',
    { inputs: ['package-lock.json'], outputs: ['node_modules/.package-lock.json'] },
    // None of the packages needs its install script to do its work here.
    () => step('installing the npm packages of package-lock.json', () => npm(['ci', '--ignore-scripts'])),
  ),
)

/** What the benchmark alone needs, in a folder of its own: the peers that it measures. */
export const benchPackages = once(() =>
  onlyWhenChanged(
    'npm-bench',
    { inputs: ['bench/package-lock.json'], outputs: ['bench/node_modules/.package-lock.json'] },
    () =>
      step('installing the peers of bench/package-lock.json', () =>
        npm(['ci', '--ignore-scripts', '--prefix', join(root, 'bench')]),
      ),
  ),
)

async function npm(args) {
  const hint = 'npm comes with Node (20 or newer). If the registry was out of reach, try again with a network.'
  // Under `npm run`, npm names its own script; by that it also starts on Windows, where `npm` is a command file.
  const script = process.env.npm_execpath
  if (script?.endsWith('.js')) await run(process.execPath, [script, ...args], { hint })
  else await run('npm', args, { hint })
}

/** Runs a command that an installed npm package brings. */
export async function runTool(packageName, command, args, options) {
  await run(process.execPath, [toolScript(packageName, command), ...args], options)
}

export function toolScript(packageName, command) {
  const folder = join(root, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, bin[command])
}
