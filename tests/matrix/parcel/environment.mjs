import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { open, pageWith, withFiles } from '../../../scripts/matrix/browser.mjs'
import { tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { parcel: '2.16.4' },
  async run({ folder, check }) {
    await writeFile(join(folder, 'index.html'), pageWith('web.mjs'))
    await check('build', async () => {
      await tool(folder, 'parcel', ['build', 'index.html', '--no-cache', '--cache-dir', 'cache', '--log-level', 'warn'])
      return withFiles(join(folder, 'dist'), {}, open)
    })
  },
}
