// Writes files as code, for bundles that are moved away from the files of the package: dist/embedded/*.js.
//
// Such a script adds its text to a table of the process, from which js/wasm/embedded.ts takes it. It has neither imports nor
// exports and lies in a folder of CommonJS, so that `import`, `require` and a page can all load the one copy.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { root } from '../setup/steps.mjs'

const dist = join(root, 'dist')
const folder = join(dist, 'embedded')

/** Embeds files, given by their paths in dist/. */
export async function writeEmbedded(paths) {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"commonjs"}\n')
  for (const path of paths) {
    const name = basename(path, extname(path))
    const base64 = (await readFile(join(dist, path))).toString('base64')
    const table = '(globalThis[Symbol.for("peteos-session.embedded")] ??= {})'
    await writeFile(join(folder, `${name}.js`), `${table}[${JSON.stringify(path)}] = "${base64}"\n`)
    await writeFile(join(folder, `${name}.d.ts`), 'export {}\n')
  }
}
