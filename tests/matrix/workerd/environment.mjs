import { NEWER_NODE, node } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { ...NEWER_NODE, wrangler: '4.164.0', miniflare: '4.20260730.0' },
  async run({ folder, check }) {
    await check('a worker built by wrangler, run by miniflare', () => node(folder, ['run.mjs'], { newer: true }))
  },
}
