import { cp, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, tool, withServer } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { nitro: '3.0.0' },
  manifest: { type: 'module' },
  async run({ folder, check }) {
    await check('build, and the output moved to another folder', async () => {
      await tool(folder, 'nitro', ['build'])
      const elsewhere = await mkdtemp(join(tmpdir(), 'peteos-session-'))
      await cp(join(folder, '.output'), elsewhere, { recursive: true })
      const port = await freePort()
      const options = { port, env: { PORT: String(port), HOST: '127.0.0.1' } }
      return withServer(elsewhere, ['server/index.mjs'], options, async (address) => (await fetch(address)).text())
    })
  },
}
