import { NEWER_NODE, tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { ...NEWER_NODE, vite: '8.4.0', vitest: '5.1.2', jsdom: '31.0.1', 'happy-dom': '21.0.4' },
  manifest: { type: 'module' },
  async run({ folder, check }) {
    for (const name of ['node', 'jsdom', 'happy-dom']) {
      await check(`environment ${name}`, async () => {
        await tool(folder, 'vitest', ['run', '--root', '.', '--environment', name], { newer: true })
      })
    }
  },
}
