import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { NEWER_NODE, node, toolPath } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { ...NEWER_NODE, pnpm: '12.21.0' },
  async run({ folder, tarball, check }) {
    const app = join(folder, 'app')
    await cp(tarball, join(app, 'package.tgz'))
    for (const file of ['node.mjs', 'node.cjs', 'scenario.mjs', 'scenario.cjs'])
      await cp(join(folder, file), join(app, file))
    await check('install', async () => {
      const args = [
        toolPath(folder, 'pnpm'),
        'install',
        '--offline',
        '--no-lockfile',
        '--store-dir',
        join(folder, 'store'),
      ]
      await node(folder, args, { cwd: app, newer: true })
    })
    await check('import', () => node(app, ['node.mjs']))
    await check('require', () => node(app, ['node.cjs']))
  },
}
