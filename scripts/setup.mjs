// `npm run setup`: installs everything that building and testing need.
import { chromium } from './setup/chromium.mjs'
import { npmPackages } from './setup/npm.mjs'
import { reference } from './setup/reference.mjs'
import { rust } from './setup/rust.mjs'
import { say, whenRun } from './setup/steps.mjs'
import { wasmBindgen } from './setup/wasm-bindgen.mjs'

await whenRun(import.meta.url, async () => {
  for (const install of [npmPackages, rust, wasmBindgen, chromium, reference]) await install()
  say('everything is in place')
})
