import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { open, pageWith, withFiles } from '../../../scripts/matrix/browser.mjs'
import { freePort, node, tool, toolPath, withServer } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { vite: '8.4.0' },
  manifest: { type: 'module' },
  async run({ folder, check }) {
    await checkVite(folder, check)
  },
}

/** What holds for all versions. */
export async function checkVite(folder, check) {
  await writeFile(join(folder, 'index.html'), pageWith('/web.mjs'))
  await check('development server', () => withDevelopmentServer(folder, open))
  await check('build', async () => {
    await tool(folder, 'vite', ['build', '--logLevel', 'warn'])
    return withFiles(join(folder, 'dist'), {}, open)
  })
  await check('SSR, with the package in the bundle', async () => {
    const config = 'export default { ssr: { noExternal: true } }'
    await writeFile(join(folder, 'bundled.config.mjs'), config)
    await tool(folder, 'vite', ['build', '--ssr', 'node.mjs', '--outDir', 'ssr', '--config', 'bundled.config.mjs'])
    return node(folder, ['ssr/node.js'])
  })
  await check('SSR, beside the package', async () => {
    await tool(folder, 'vite', ['build', '--ssr', 'node.mjs', '--outDir', 'external'])
    return node(folder, ['external/node.js'])
  })
}

export async function withDevelopmentServer(folder, work, ...options) {
  const port = await freePort()
  const args = [toolPath(folder, 'vite'), '--host', '127.0.0.1', '--port', String(port), '--strictPort', ...options]
  return withServer(folder, args, { port }, work)
}
