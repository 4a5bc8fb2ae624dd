import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openScript } from '../../../scripts/matrix/browser.mjs'
import { copyFilesOfPackage } from '../../../scripts/matrix/folders.mjs'
import { node, tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { esbuild: '0.28.2' },
  async run({ folder, check }) {
    const bundle = (entry, out, ...options) =>
      tool(folder, 'esbuild', [entry, '--bundle', `--outfile=${out}`, '--log-level=warning', ...options])
    const moved = async (file) => {
      const elsewhere = await mkdtemp(join(tmpdir(), 'peteos-session-'))
      await cp(join(folder, file), join(elsewhere, 'app.mjs'))
      return node(elsewhere, ['app.mjs'])
    }

    await check('Node, ES module', async () => {
      await bundle('node.mjs', 'out/esm.mjs', '--platform=node', '--format=esm')
      return node(folder, ['out/esm.mjs'])
    })
    await check('Node, ES module that requires the package', async () => {
      await bundle('node.cjs', 'out/required.mjs', '--platform=node', '--format=esm')
      return node(folder, ['out/required.mjs'])
    })
    await check('Node, CommonJS', async () => {
      await bundle('node.mjs', 'out/app.cjs', '--platform=node', '--format=cjs')
      return node(folder, ['out/app.cjs'])
    })
    await check('Node, with the files copied beside the bundle and moved away', async () => {
      const elsewhere = await mkdtemp(join(tmpdir(), 'peteos-session-'))
      await bundle('node.mjs', join(elsewhere, 'app.mjs'), '--platform=node', '--format=esm')
      await bundle(
        'node.mjs',
        join(elsewhere, 'app.cjs'),
        '--platform=node',
        '--format=cjs',
        '--log-override:empty-import-meta=silent',
      )
      await copyFilesOfPackage(folder, elsewhere)
      await node(elsewhere, ['app.cjs'])
      return node(elsewhere, ['app.mjs'])
    })
    await check('Node, moved without the files: the error names the remedies', async () => {
      const said = await moved('out/esm.mjs').catch((error) => error.message)
      for (const part of ['NotInitializedError', 'peteos_session_bg.wasm', 'external', 'peteos-session/inline']) {
        if (!said.includes(part)) throw new Error(`the error does not name ${part}: ${said}`)
      }
    })
    await check('inline, moved to another folder', async () => {
      await bundle('inline.mjs', 'out/inline.mjs', '--platform=node', '--format=esm')
      return moved('out/inline.mjs')
    })
    await check('inline in a browser, ES module', async () => {
      await bundle('inline.mjs', 'web/inline.js', '--format=esm')
      return openScript(join(folder, 'web'), '/inline.js')
    })
    await check('inline in a browser, IIFE', async () => {
      await bundle('inline.mjs', 'web/script.js', '--format=iife', '--log-override:empty-import-meta=silent')
      return openScript(join(folder, 'web'), '/script.js', { type: 'text/javascript' })
    })
    await check('browser, with the files copied beside the bundle', async () => {
      await bundle('web.mjs', 'copied/app.js', '--format=esm')
      await copyFilesOfPackage(folder, join(folder, 'copied'))
      return openScript(join(folder, 'copied'), '/app.js')
    })
  },
}
