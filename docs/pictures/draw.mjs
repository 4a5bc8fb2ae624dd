// `node docs/pictures/draw.mjs`: draws the pictures of the README and the docs from what the library decides.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../scripts/build.mjs'
import { root, whenRun } from '../../scripts/setup/steps.mjs'
import { policyPictures } from './policies.mjs'
import { windowPictures } from './windows.mjs'

await whenRun(import.meta.url, async () => {
  await build()
  const peteos = await import('../../dist/index.mjs')
  for (const [name, svg] of Object.entries({ ...windowPictures(peteos), ...policyPictures(peteos) })) {
    writeFileSync(join(root, 'docs', 'pictures', `${name}.svg`), svg)
  }
})
