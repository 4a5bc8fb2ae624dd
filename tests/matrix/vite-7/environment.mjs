import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { open } from '../../../scripts/matrix/browser.mjs'
import { checkVite, withDevelopmentServer } from '../vite-8/environment.mjs'

const EXCLUDE = "export default { optimizeDeps: { exclude: ['peteos-session'] } }\n"

export const environment = {
  packages: { vite: '7.3.8' },
  manifest: { type: 'module' },
  async run({ folder, check }) {
    await writeFile(join(folder, 'none.config.mjs'), 'export default {}\n')
    await writeFile(join(folder, 'vite.config.mjs'), EXCLUDE)
    await check('development server without the option: the error names the remedy', async () => {
      await writeFile(join(folder, 'index.html'), '<!doctype html><script type="module" src="/web.mjs"></script>')
      const said = await withDevelopmentServer(folder, open, '--config', 'none.config.mjs')
      for (const part of ['NotInitializedError', 'HTML', 'optimizeDeps.exclude']) {
        if (!said.includes(part)) throw new Error(`the error does not name ${part}: ${said}`)
      }
    })
    await checkVite(folder, check)
  },
}
