import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { open } from '../../../scripts/matrix/browser.mjs'
import { freePort, tool, toolPath, withServer } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  fresh: true,
  packages: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' },
  async run({ folder, check }) {
    for (const bundler of ['turbopack', 'webpack']) {
      await check(`build with ${bundler}`, async () => {
        await tool(folder, 'next', ['build', `--${bundler}`], { timeout: 600_000 })
      })
      const port = await freePort()
      const start = [toolPath(folder, 'next'), 'start', '-p', String(port)]
      await withServer(folder, start, { port }, (address) => checkPages(address, `${bundler}, next start`, check))
      const standalone = join(folder, '.next', 'standalone')
      await cp(join(folder, '.next', 'static'), join(standalone, '.next', 'static'), { recursive: true })
      const env = { PORT: String(port), HOSTNAME: '127.0.0.1' }
      await withServer(standalone, ['server.js'], { port, env }, (address) =>
        checkPages(address, `${bundler}, standalone`, check),
      )
    }
  },
}

async function checkPages(address, title, check) {
  const text = async (path) => (await fetch(address + path)).text()
  await check(`${title}: route handler`, () => text('/api/count'))
  await check(`${title}: client page`, () => open(address, { selector: '#result' }))
  await check(`${title}: edge route`, () => text('/edge'))
}
