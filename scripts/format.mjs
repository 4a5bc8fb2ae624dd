// `npm run format`: formats the Rust, JavaScript and TypeScript sources in place.
import { npmPackages, runTool } from './setup/npm.mjs'
import { rust } from './setup/rust.mjs'
import { step, whenRun } from './setup/steps.mjs'

await whenRun(import.meta.url, async () => {
  await npmPackages()
  const { cargo } = await rust()
  await step('cargo fmt', () => cargo(['fmt', '--all']))
  await step('biome', () => runTool('@biomejs/biome', 'biome', ['check', '--write', '--linter-enabled=false']))
})
