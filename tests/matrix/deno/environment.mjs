import { join } from 'node:path'
import { exec } from '../../../scripts/matrix/processes.mjs'

const system = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform]
const binary = `@deno/${system}-${process.arch}${system === 'linux' ? '-glibc' : ''}`

export const environment = {
  packages: { [binary]: '2.9.6' },
  async run({ folder, check }) {
    const deno = (...args) => exec(folder, join(folder, 'node_modules', binary, 'deno'), args)
    const allowed = ['run', '--node-modules-dir=manual', '--allow-all']
    await check('import', () => deno(...allowed, 'node.mjs'))
    await check('require', () => deno(...allowed, 'node.cjs'))
  },
}
