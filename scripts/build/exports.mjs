// Checks that the build wrote every file that package.json names.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, SetupError } from '../setup/steps.mjs'

export async function checkExports() {
  const { exports, main, types } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const missing = [...targets(exports), main, types]
    .map((target) => target.replace(/\*.*$/, ''))
    .filter((target) => !existsSync(join(root, target)))
  if (missing.length > 0)
    throw new SetupError(`package.json names files that the build did not write: ${missing.join(', ')}`)
}

function targets(node) {
  return typeof node === 'string' ? [node] : Object.values(node).flatMap(targets)
}
