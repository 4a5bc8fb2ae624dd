import { join } from 'node:path'
import { openScript } from '../../../scripts/matrix/browser.mjs'
import { copyFilesOfPackage } from '../../../scripts/matrix/folders.mjs'
import { node, tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { rollup: '4.68.8', '@rollup/plugin-node-resolve': '16.0.3', '@rollup/plugin-commonjs': '29.0.3' },
  async run({ folder, check }) {
    const bundle = (entry, out, ...options) => tool(folder, 'rollup', [entry, '-o', out, '--silent', ...options])
    const forNode = ['-p', 'node-resolve={exportConditions:["node"]}', '--external', '/^node:/']
    await check('Node, ES module', async () => {
      await bundle('node.mjs', 'out/app.mjs', '-f', 'es', ...forNode)
      return node(folder, ['out/app.mjs'])
    })
    await check('Node, CommonJS', async () => {
      await bundle('node.mjs', 'out/app.cjs', '-f', 'cjs', ...forNode)
      return node(folder, ['out/app.cjs'])
    })
    await check('Node, an app that requires the package', async () => {
      await bundle('node.cjs', 'out/required.mjs', '-f', 'es', ...forNode, '-p', 'commonjs')
      return node(folder, ['out/required.mjs'])
    })
    await check('browser, with the files copied beside the bundle', async () => {
      await tool(folder, 'rollup', [
        'web.mjs',
        '-d',
        'web',
        '--silent',
        '-f',
        'es',
        '-p',
        'node-resolve={browser:true}',
      ])
      await copyFilesOfPackage(folder, join(folder, 'web'))
      return openScript(join(folder, 'web'), '/web.js')
    })
    await check('inline in a browser', async () => {
      await bundle('inline.mjs', 'web/inline.js', '-f', 'es', '-p', 'node-resolve={browser:true}')
      return openScript(join(folder, 'web'), '/inline.js')
    })
  },
}
