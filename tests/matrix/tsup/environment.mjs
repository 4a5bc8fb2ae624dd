import { NEWER_NODE, node, tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { ...NEWER_NODE, tsup: '9.0.0', typescript: '5.9.3' },
  manifest: { type: 'module' },
  async run({ folder, check }) {
    const bundle = (out, ...options) =>
      tool(folder, 'tsup', ['node.mjs', '--out-dir', out, ...options], { newer: true })
    await check('a bundle with the package in it, both formats', async () => {
      await bundle('out', '--format', 'esm,cjs')
      await node(folder, ['out/node.cjs'])
      return node(folder, ['out/node.js'])
    })
    await check('a bundle beside the package', async () => {
      await bundle('external', '--format', 'esm', '--external', 'peteos-session')
      return node(folder, ['external/node.js'])
    })
  },
}
