import { join } from 'node:path'
import { exec } from '../../../scripts/matrix/processes.mjs'

const binary = `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`

export const environment = {
  packages: { [binary]: '1.4.5' },
  async run({ folder, check }) {
    const bun = (...args) => exec(folder, join(folder, 'node_modules', binary, 'bin', 'bun'), args)
    await check('import', () => bun('run', 'node.mjs'))
    await check('require', () => bun('run', 'node.cjs'))
    await check('bun build, for Bun', async () => {
      await bun('build', 'node.mjs', '--target=bun', '--outfile=out/bun.js')
      return bun('run', 'out/bun.js')
    })
    await check('bun build, for Node', async () => {
      await bun('build', 'node.mjs', '--target=node', '--outfile=out/node.mjs')
      return exec(folder, process.execPath, ['out/node.mjs'])
    })
  },
}
