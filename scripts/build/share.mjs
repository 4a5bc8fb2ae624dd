// Makes the ES modules and the CommonJS modules for Node share one instance of everything.
//
// They are two copies of the same code. The copy of a file that is loaded first puts its exports into a table of the process,
// and the other one exports these instead of its own. So `instanceof` holds across formats, and the module is loaded once.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { SetupError } from '../setup/steps.mjs'

// esbuild writes the exports of a file as one statement at its end.
const EXPORTS = /^export \{\n([^}]*)\n\};$/m

/** Rewrites the exports of ES modules, which are then converted to both formats. */
export async function shareBetweenFormats(files, version) {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  // Copies of different code have different tables, and so have different versions.
  const hash = createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 8)
  const table = `globalThis[Symbol.for("peteos-session@${version}-${hash}")]`
  for (const [index, text] of texts.entries()) {
    await writeFile(files[index], share(text, table, basename(files[index], '.js')))
  }
}

function share(text, table, name) {
  const [statement, list] = EXPORTS.exec(text) ?? []
  if (statement === undefined) throw new SetupError(`${name}: expected the exports at the end of the file`)
  const exported = list.split(',\n').map((item) => {
    const [, local, as = local] = /^\s*(\S+)(?: as (\S+))?$/.exec(item)
    return { local, as }
  })
  const own = exported.map(({ local, as }) => (local === as ? as : `${as}: ${local}`))
  const taken = exported.map(({ as }) => `${as}: shared_${as}`)
  const given = exported.map(({ as }) => `shared_${as} as ${as}`)
  return text.replace(statement, () =>
    [
      `var { ${taken.join(', ')} } = (${table} ??= {})[${JSON.stringify(name)}] ??= { ${own.join(', ')} };`,
      `export { ${given.join(', ')} };`,
    ].join('\n'),
  )
}
