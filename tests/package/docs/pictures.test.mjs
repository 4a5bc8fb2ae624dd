// The pictures of the README and the docs show the decisions of the library.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { policyPictures } from '../../../docs/pictures/policies.mjs'
import { windowPictures } from '../../../docs/pictures/windows.mjs'
import { load, root } from '../support/installed.mjs'

test('the pictures are up to date with `node docs/pictures/draw.mjs`', async () => {
  const peteos = await load('peteos-session')
  const pictures = { ...windowPictures(peteos), ...policyPictures(peteos) }
  const folder = join(root, 'docs', 'pictures')
  assert.deepEqual(
    readdirSync(folder)
      .filter((name) => name.endsWith('.svg'))
      .sort(),
    Object.keys(pictures)
      .map((name) => `${name}.svg`)
      .sort(),
  )
  for (const [name, svg] of Object.entries(pictures)) {
    assert.equal(readFileSync(join(folder, `${name}.svg`), 'utf8'), svg, `${name}: run node docs/pictures/draw.mjs`)
  }
  const accepted = [...pictures['window-boundaries'].matchAll(/(\d) of 4</g)].map(([, providers]) => Number(providers))
  assert.deepEqual(accepted, [0, 2, 4], 'providers that accept the windows of each boundary')
  assert.match(pictures['window-message'], /results without their call/)
  assert.doesNotMatch(pictures['window-exchange'] + pictures['window-turn'], /results without their call/)
})
