// Shortens the names by which a WebAssembly module and its bindings call each other. wasm-bindgen makes them long, with
// hashes that do not compress; together they are a tenth of the JavaScript that a page transfers.
import { readFile, writeFile } from 'node:fs/promises'
import { captureTool } from '../setup/npm.mjs'
import { SetupError } from '../setup/steps.mjs'

/** Rewrites a module and its bindings in place. `features` are the options of wasm-opt that the module needs. */
export async function shortenNames(module, bindings, features) {
  const pass = '--minify-imports-and-exports-and-modules'
  const map = JSON.parse(await captureTool('binaryen', 'wasm-opt', [...features, pass, module, '-o', module]))
  await writeFile(bindings, rename(await readFile(bindings, 'utf8'), map))
}

function rename(text, { imports, exports }) {
  const short = new Map(exports)
  const objects = new Map(imports.map(([from, name, to]) => [`${from} ${name}`, to]))
  const [from] = imports[0]
  const renamed = text
    .replaceAll(/\bwasm\.([\w$]+)/g, (all, name) => (short.has(name) ? `wasm.${short.get(name)}` : all))
    .replaceAll(/^( {8})(\w+)(?=: function)/gm, (all, indent, name) => {
      const to = objects.get(`${from} ${name}`)
      return to === undefined ? all : indent + to
    })
    // Every module that imports come from is now called "a".
    .replace(JSON.stringify(from), '"a"')
    // The exports that `init` returns: the package uses the memory only.
    .replace(/(wasm\.\S+\(\);\n\s*)return wasm;/, `$1return { memory: wasm.${short.get('memory')} };`)
  const missed = [...objects.keys()].find((key) => renamed.includes(key.split(' ')[1]))
  if (missed !== undefined || !renamed.includes('return { memory:')) {
    throw new SetupError(`the bindings of wasm-bindgen have another form than expected: ${missed ?? 'its end of init'}`)
  }
  return renamed
}
