// `npm run demo`: opens a session, compares windows, applies two, saves, loads again and checks the result.
import { join } from 'node:path'
import { build } from './build.mjs'
import { findSessionDir, HELP, parseOptions, UsageError } from './demo/options.mjs'
import { root, whenRun } from './setup/steps.mjs'

const EXAMPLES = join(root, 'examples', 'demo-session')

/** Resolves to the exit code. */
async function main(args) {
  const options = parseOptions(args)
  if (options.help) {
    console.log(HELP)
    return 0
  }
  const sessionDir = findSessionDir(options.sessionDir, EXAMPLES)
  await build()
  // Imported late: it needs dist/ and the npm packages, which exist only after the build.
  const { runDemo } = await import('./demo/run.mjs')
  return (await runDemo(sessionDir, options)) ? 0 : 1
}

await whenRun(import.meta.url, async () => {
  // A reader such as `| head` may close the pipe early; the run still ends normally.
  process.stdout.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    process.exitCode = await main(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}; see npm run demo -- --help`)
    process.exitCode = 2
  }
})
