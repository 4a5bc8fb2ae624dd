import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { node, toolPath } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { pnpm: '10.34.8' },
  async run({ folder, tarball, check }) {
    const app = join(folder, 'app')
    // Only what pnpm installs may be found.
    await rm(join(folder, 'node_modules', 'peteos-session'), { recursive: true })
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
      await node(folder, args, { cwd: app })
    })
    await check('import', () => node(app, ['node.mjs']))
    await check('require', () => node(app, ['node.cjs']))
  },
}
