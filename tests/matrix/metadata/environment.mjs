import { node, toolPath } from '../../../scripts/matrix/processes.mjs'

/** Not code: bundlers turn imports of them into ES modules. */
const FILES = [
  './peteos_session_bg.wasm',
  './peteos_session_bg.wasm?module',
  './peteos_session_providers_bg.wasm',
  './peteos_session_providers_bg.wasm?module',
  './encodings/r50k_base.bin',
]

export const environment = {
  packages: { publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' },
  async run({ folder, tarball, check }) {
    await check('publint --strict', async () => {
      await node(folder, [toolPath(folder, 'publint'), 'run', tarball, '--strict'])
    })
    await check('arethetypeswrong', async () => {
      const args = [tarball, '--format', 'ascii', '--exclude-entrypoints', ...FILES]
      await node(folder, [toolPath(folder, '@arethetypeswrong/cli attw'), ...args])
    })
  },
}
