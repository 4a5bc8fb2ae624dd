import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { checkBundler } from '../webpack/environment.mjs'

export const environment = {
  packages: { '@rspack/core': '2.3.4' },
  async run({ folder, check }) {
    await cp(
      join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..', 'webpack', 'bundle.mjs'),
      join(folder, 'bundle.mjs'),
    )
    await checkBundler(folder, 'rspack', check)
  },
}
