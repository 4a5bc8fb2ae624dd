import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tool } from '../../../scripts/matrix/processes.mjs'

const MODES = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
  node10: { module: 'commonjs', moduleResolution: 'node10' },
}
const COMPILERS = {
  'typescript-5.0': ['node16', 'nodenext', 'bundler', 'node10'],
  'typescript-5.9': ['node16', 'nodenext', 'bundler', 'node10'],
  typescript: ['node16', 'nodenext', 'bundler'],
}
const LIBRARIES = { es2020: ['es2020'], 'es2020 and dom': ['es2020', 'dom'], esnext: ['esnext', 'dom'] }

export const environment = {
  packages: { typescript: '7.0.2', 'typescript-5.9': 'npm:typescript@5.9.3', 'typescript-5.0': 'npm:typescript@5.0.4' },
  async run({ folder, check }) {
    for (const [compiler, modes] of Object.entries(COMPILERS)) {
      for (const mode of modes) {
        for (const [library, lib] of Object.entries(LIBRARIES)) {
          await check(`${compiler}, ${mode}, lib ${library}, declarations checked`, async () => {
            const config = join(folder, 'tsconfig.json')
            // TypeScript 5.0 calls the resolution of node10 "node".
            const options = {
              ...MODES[mode],
              lib,
              target: 'es2020',
              strict: true,
              noEmit: true,
              types: [],
              skipLibCheck: false,
            }
            if (mode === 'node10' && compiler === 'typescript-5.0') options.moduleResolution = 'node'
            await writeFile(config, JSON.stringify({ compilerOptions: options, files: filesFor(mode) }))
            await tool(folder, `${compiler} tsc`, ['-p', config])
          })
        }
      }
    }
  },
}

function filesFor(mode) {
  if (mode === 'bundler') return ['app.ts', 'files.ts']
  return mode === 'node10' ? ['app.ts'] : ['app.ts', 'module.mts', 'common.cts']
}
