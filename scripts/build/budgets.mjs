// The sizes that the build must not exceed: what a page transfers before anything runs.
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root, SetupError, say } from '../setup/steps.mjs'
import { isQuick } from './wasm.mjs'

const dist = join(root, 'dist')

/** In bytes, gzipped. The goals are 300,000 and 16,000: lower the budgets as the sizes come down. */
const MODULE = 322_000
const PROVIDERS = 190_000
const SCRIPT = 21_500

export async function checkBudgets() {
  check('the JavaScript of the browser entry, minified', await browserScript(), SCRIPT)
  if (isQuick) say('a quick build: the size of the WebAssembly module is not checked')
  else {
    check('the WebAssembly module', await readFile(join(dist, 'peteos_session_bg.wasm')), MODULE)
    const providers = await readFile(join(dist, 'peteos_session_providers_bg.wasm'))
    check('the WebAssembly module of the providers', providers, PROVIDERS)
  }
}

function check(what, data, budget) {
  const size = gzipSync(data, { level: 9 }).length
  if (size > budget) throw new SetupError(`${what} takes ${size} bytes gzipped, more than the ${budget} of its budget`)
  say(`${what}: ${size} bytes gzipped, of at most ${budget}`)
}

/** What an application that uses everything transfers at the start: without the chunks that are imported later. */
async function browserScript() {
  const { build } = await import('esbuild')
  const entryPoints = [join(dist, 'browser.js')]
  const options = { bundle: true, splitting: true, minify: true, format: 'esm', write: false, ignoreAnnotations: true }
  const outdir = join(root, 'target', 'budgets')
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints,
    outdir,
    metafile: true,
    absWorkingDir: root,
    logLevel: 'warning',
  })
  const start = staticImports(metafile.outputs, 'target/budgets/browser.js')
  return Buffer.concat(
    outputFiles
      .filter(({ path }) => start.has(relative(root, path).replaceAll('\\', '/')))
      .map(({ contents }) => contents),
  )
}

/** An output and what it imports statically. */
function staticImports(outputs, entry, found = new Set()) {
  found.add(entry)
  for (const { kind, path } of outputs[entry].imports) {
    if (kind === 'import-statement' && !found.has(path)) staticImports(outputs, path, found)
  }
  return found
}
