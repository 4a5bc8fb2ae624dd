// `npm run check`: formatting, lints and types.

import { checkTypes } from './build/types.mjs'
import { build } from './build.mjs'
import { npmPackages, runTool } from './setup/npm.mjs'
import { hostCargo, wasmRust } from './setup/rust.mjs'
import { say, step, whenRun } from './setup/steps.mjs'

const CLIPPY = ['clippy', '--all-targets']
const DENY_WARNINGS = ['--', '-D', 'warnings']
const FORMAT_HINT = '`npm run format` fixes what is only a matter of form.'
const HINT = 'Where the tool itself is missing: rustup component add clippy rustfmt'

await whenRun(import.meta.url, async () => {
  await npmPackages()
  await step('biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings'], { hint: FORMAT_HINT }))
  await step('cargo fmt --all --check', () =>
    hostCargo(['fmt', '--all', '--check'], { hint: `${FORMAT_HINT} ${HINT}` }),
  )
  await step('cargo clippy on this machine', () => hostCargo([...CLIPPY, ...DENY_WARNINGS], { hint: HINT }))
  const rust = await wasmRust()
  await step('cargo clippy for WebAssembly', () => rust.cargo([...CLIPPY, ...DENY_WARNINGS], { hint: HINT }))
  // The sources import the bindings that the build generates.
  await build()
  await step('tsc', checkTypes)
  say('all checks passed')
})
