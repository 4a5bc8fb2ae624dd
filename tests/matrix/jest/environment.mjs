import { tool } from '../../../scripts/matrix/processes.mjs'

export const environment = {
  packages: { jest: '30.5.2', 'jest-environment-jsdom': '30.5.2' },
  async run({ folder, check }) {
    const jest = async (...args) => {
      await tool(folder, 'jest', ['--rootDir', '.', '--ci', ...args])
    }
    await check('environment node', () => jest('node.test.cjs', '--env', 'node'))
    await check('environment node, ES modules', () =>
      tool(
        folder,
        'jest',
        ['--rootDir', '.', '--ci', 'esm.test.mjs', '--env', 'node', '--testMatch', '**/*.test.mjs'],
        {
          env: { NODE_OPTIONS: '--experimental-vm-modules' },
        },
      ).then(() => undefined),
    )
    await check('environment jsdom', () => jest('jsdom.test.cjs', '--env', 'jsdom'))
    await check('fake timers', () => jest('timers.test.cjs', '--env', 'node'))
  },
}
