import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { node, toolPath } from '../../../scripts/matrix/processes.mjs'

const LINKERS = ['node-modules', 'pnp']

export const environment = {
  packages: { '@yarnpkg/cli-dist': '4.18.1' },
  async run({ folder, tarball, check }) {
    // Only what Yarn installs may be found.
    await rm(join(folder, 'node_modules', 'peteos-session'), { recursive: true })
    for (const linker of LINKERS) {
      const app = join(folder, linker)
      const yarn = (args) => node(folder, [toolPath(folder, '@yarnpkg/cli-dist yarn'), ...args], { cwd: app })
      await cp(join(folder, 'app'), app, { recursive: true })
      await cp(tarball, join(app, 'package.tgz'))
      for (const file of ['node.mjs', 'node.cjs', 'scenario.mjs', 'scenario.cjs'])
        await cp(join(folder, file), join(app, file))
      await writeFile(join(app, 'yarn.lock'), '')
      const settings = [
        `nodeLinker: ${linker}`,
        'enableGlobalCache: false',
        'enableTelemetry: false',
        'enableImmutableInstalls: false',
      ]
      await writeFile(join(app, '.yarnrc.yml'), `${settings.join('\n')}\n`)
      await check(`${linker}, install`, async () => {
        await yarn(['install'])
      })
      await check(`${linker}, import`, () => yarn(['node', 'node.mjs']))
      await check(`${linker}, require`, () => yarn(['node', 'node.cjs']))
    }
  },
}
