// TypeScript declarations, once for `import` and once for `require`.
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runTool } from '../setup/npm.mjs'
import { root, SetupError } from '../setup/steps.mjs'

const types = join(root, 'dist', 'types')

/** Checks the sources without writing anything. */
export async function checkTypes() {
  await runTool('typescript', 'tsc', ['-p', 'tsconfig.json'])
}

export async function writeTypes() {
  await runTool('typescript', 'tsc', ['-p', 'tsconfig.types.json', '--outDir', join(types, 'esm')])
  await checkSelfContained(join(types, 'esm'))
  await cp(join(types, 'esm'), join(types, 'cjs'), { recursive: true })
  await cp(join(root, 'js', 'declarations'), join(types, 'files'), { recursive: true })
  // TypeScript takes the module format of a declaration from the nearest package.json.
  await writeFile(join(types, 'esm', 'package.json'), '{"type":"module"}\n')
  await writeFile(join(types, 'cjs', 'package.json'), '{"type":"commonjs"}\n')
}

/** The declarations that wasm-bindgen generates are not shipped, so no public type may refer to them. */
async function checkSelfContained(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.d.ts'))
  for (const name of files) {
    if (!/['"][^'"]*\/pkg\/[^'"]*['"]/.test(await readFile(join(folder, name), 'utf8'))) continue
    throw new SetupError(`The public declaration ${name} refers to pkg/: declare the type in its source instead.`)
  }
}
