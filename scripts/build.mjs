// `npm run build`: builds dist/ from the Rust and TypeScript sources. Does nothing if nothing changed.
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkBudgets } from './build/budgets.mjs'
import { writeBundles } from './build/bundles.mjs'
import { writeEmbedded } from './build/embedded.mjs'
import { checkExports } from './build/exports.mjs'
import { writeTypes } from './build/types.mjs'
import { buildWasm } from './build/wasm.mjs'
import { npmPackages } from './setup/npm.mjs'
import { onlyWhenChanged } from './setup/stamps.mjs'
import { once, root, say, step, whenRun } from './setup/steps.mjs'
import { writeVocabularies } from './vocabularies.mjs'

const dist = join(root, 'dist')
const MODULES = ['peteos_session_bg.wasm', 'peteos_session_providers_bg.wasm']

export const build = once(async () => {
  await npmPackages()
  await buildWasm()
  const work = {
    inputs: [
      ...['pkg', 'js', 'tsconfig.json', 'tsconfig.types.json', 'package.json', 'package-lock.json', 'Cargo.lock'],
      ...['scripts/build.mjs', 'scripts/build', 'scripts/vocabularies.mjs'],
    ],
    outputs: ['dist'],
  }
  const changed = await onlyWhenChanged('dist', work, () => step('making dist/', writeDist))
  if (!changed) say('dist/ is up to date')
})

async function writeDist() {
  await rm(dist, { recursive: true, force: true })
  await mkdir(dist)
  for (const name of MODULES) await copyFile(join(root, 'pkg', name), join(dist, name))
  const vocabularies = await writeVocabularies(join(dist, 'encodings'))
  await writeEmbedded([...MODULES, ...vocabularies.map((name) => `encodings/${name}`)])
  await writeBundles()
  await writeTypes()
  await checkExports()
  await checkBudgets()
}

await whenRun(import.meta.url, build)
