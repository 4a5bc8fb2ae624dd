import { exec, nodePackage, nodeProgram } from '../../../scripts/matrix/processes.mjs'

const VERSIONS = { 'node-20': '20.9.0', 'node-22': '22.23.3', 'node-24': '24.9.0' }

export const environment = {
  packages: Object.fromEntries(Object.entries(VERSIONS).map(([name, version]) => [name, nodePackage(version)])),
  async run({ folder, check }) {
    for (const name of Object.keys(VERSIONS)) {
      const program = nodeProgram(folder, name)
      await check(`${name}, import`, () => exec(folder, program, ['node.mjs']))
      await check(`${name}, require`, () => exec(folder, program, ['node.cjs']))
      await check(`${name}, import and require in one process`, () => exec(folder, program, ['both.mjs']))
    }
  },
}
