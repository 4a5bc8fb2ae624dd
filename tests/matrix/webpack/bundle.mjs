// Bundles an entry for a target, without any option that concerns the package.
import { fileURLToPath } from 'node:url'

const [bundler, target, entry, out] = process.argv.slice(2)
const tool = await import(bundler === 'webpack' ? 'webpack' : '@rspack/core')
const compile = tool.webpack ?? tool.rspack ?? tool.default
const folder = fileURLToPath(new URL('.', import.meta.url))

compile(
  {
    mode: 'production',
    context: folder,
    target,
    entry: `./${entry}`,
    output: { path: `${folder}${out}`, filename: 'app.cjs' },
    performance: { hints: false },
  },
  (error, stats) => {
    if (error) throw error
    if (stats.hasErrors() || stats.hasWarnings()) {
      console.error(stats.toString())
      process.exitCode = 1
    }
  },
)
