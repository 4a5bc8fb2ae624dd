// System calls that fail, the k-th of each kind for every k: each call of the library succeeds, or throws an error of its own
// and keeps the files and the session in memory whole, so that the next call writes everything.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempDir } from '../package/support/files.mjs'
import { runIntercepted, whyNoPreload } from './support/preload.mjs'
import { crashTest, seed } from './support/suite.mjs'

const FAILING = fileURLToPath(new URL('support/failing.mjs', import.meta.url))
const EVERY_CASE = 1_000_000

for (const entry of ['first save', 'save', 'saveSync', 'save that keeps both', 'update', 'repair']) {
  const title = `failing calls: ${entry}`
  crashTest(title, { usual: 20, large: EVERY_CASE, skip: whyNoPreload() }, async (t, { tries, row }) => {
    const directory = join(tempDir(t), 'sessions')
    mkdirSync(directory)
    const output = runIntercepted(FAILING, [entry, tries, seed], directory)
    const result = JSON.parse(output)
    const note = `of ${result.cases} cases; ${result.refused} calls refused`
    row({ what: entry, tries: result.tries, acknowledged: result.tries - result.refused, lost: result.lost, note })
  })
}
