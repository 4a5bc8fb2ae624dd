// The versions and source folders of the crates in Cargo.lock, from Cargo.
import { dirname } from 'node:path'
import { rust } from './rust.mjs'
import { once, SetupError } from './steps.mjs'

const metadata = once(async () => {
  const { cargo } = await rust()
  const hint = 'Cargo could not resolve or fetch the crates of Cargo.lock; the first run needs a network.'
  return JSON.parse(await cargo(['metadata', '--format-version', '1'], { capture: true, hint }))
})

/** The version and the source folder of the crate `name`. */
export async function findCrate(name) {
  const found = (await metadata()).packages.filter((candidate) => candidate.name === name)
  if (found.length !== 1) {
    throw new SetupError(`Cargo.lock must hold one version of the crate ${name}, but it holds ${found.length}.`)
  }
  return { version: found[0].version, folder: dirname(found[0].manifest_path) }
}
