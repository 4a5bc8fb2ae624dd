// The sizes that the build must not exceed: what a page transfers before anything runs.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root, SetupError, say } from '../setup/steps.mjs'
import { isQuick } from './wasm.mjs'

const dist = join(root, 'dist')

/** In bytes, gzipped. The goals are 300,000 and 16,000: lower the budgets as the sizes come down. */
const MODULE = 315_000
const SCRIPT = 20_000

export async function checkBudgets() {
  check('the JavaScript of the browser entry, minified', await browserScript(), SCRIPT)
  if (isQuick) say('a quick build: the size of the WebAssembly module is not checked')
  else check('the WebAssembly module', await readFile(join(dist, 'peteos_session_bg.wasm')), MODULE)
}

function check(what, data, budget) {
  const size = gzipSync(data, { level: 9 }).length
  if (size > budget) throw new SetupError(`${what} takes ${size} bytes gzipped, more than the ${budget} of its budget`)
  say(`${what}: ${size} bytes gzipped, of at most ${budget}`)
}

/** What an application that uses everything bundles. */
async function browserScript() {
  const { build } = await import('esbuild')
  const entryPoints = [join(dist, 'browser.js')]
  const options = { bundle: true, minify: true, format: 'esm', write: false, ignoreAnnotations: true }
  const { outputFiles } = await build({ ...options, entryPoints, logLevel: 'warning' })
  return outputFiles[0].contents
}
