import { join } from 'node:path'
import { openScript } from '../../../scripts/matrix/browser.mjs'
import { node } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { webpack: '5.113.0' },
  async run({ folder, check }) {
    await checkBundler(folder, 'webpack', check)
  },
}

/** webpack and Rspack have the same interface. */
export async function checkBundler(folder, bundler, check) {
  const bundle = (target, entry, out) => node(folder, ['bundle.mjs', bundler, target, entry, out])
  for (const entry of ['node.mjs', 'node.cjs']) {
    await check(`Node, ${entry}`, async () => {
      const out = `out-${entry.split('.')[1]}`
      await bundle('node', entry, out)
      return node(folder, [`${out}/app.cjs`])
    })
  }
  await check('web', async () => {
    await bundle('web', 'web.mjs', 'web')
    return openScript(join(folder, 'web'), '/app.cjs', { type: 'text/javascript' })
  })
}
