// `npm run check`: formatting, lints and types.

import { checkTypes } from './build/types.mjs'
import { build } from './build.mjs'
import { npmPackages, runTool } from './setup/npm.mjs'
import { rust } from './setup/rust.mjs'
import { say, step, whenRun } from './setup/steps.mjs'

const CLIPPY = ['clippy', '--all-targets', '--', '-D', 'warnings']
const FORMAT_HINT = '`npm run format` fixes the formatting.'
const HINT = 'If the tool itself is missing: rustup component add clippy rustfmt'

await whenRun(import.meta.url, async () => {
  await npmPackages()
  await step('biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings'], { hint: FORMAT_HINT }))
  const { cargo } = await rust()
  await step('cargo fmt', () => cargo(['fmt', '--all', '--check'], { hint: `${FORMAT_HINT} ${HINT}` }))
  await step('cargo clippy on this machine', () => cargo(CLIPPY, { hint: HINT }))
  await step('cargo clippy for WebAssembly', () => cargo(CLIPPY, { hint: HINT, wasm: true }))
  // The sources import the bindings that the build generates.
  await build()
  await step('tsc', checkTypes)
  say('all checks passed')
})
