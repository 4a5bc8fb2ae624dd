// `npm run demo:browser`: builds the package and serves the page of examples/browser/ on localhost.
import { parseArgs } from 'node:util'
import { build } from './build.mjs'
import { createDemoServer } from './demo-browser/server.mjs'
import { root, SetupError, whenRun } from './setup/steps.mjs'

/**
 * Starts the server on a port, by default a free one.
 *
 * @param {{ port?: number }} [options]
 * @returns {Promise<{ url: string, close(): Promise<void> }>} `url` is the address of the page.
 */
export async function serve({ port = 0 } = {}) {
  const server = await createDemoServer(root)
  await new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new SetupError(`The page cannot be served on port ${port}: ${error.message}`)),
    )
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${server.address().port}/examples/browser/`,
    close() {
      // A browser keeps connections open, and `close` would wait for them.
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

function portOf(args) {
  const { values } = parseArgs({ args, options: { port: { type: 'string', default: '0' } } })
  const port = Number(values.port)
  if (/^\d+$/.test(values.port) && port <= 65_535) return port
  throw new SetupError(`--port: expected a number from 0 (a free port) to 65535, found "${values.port}".`)
}

await whenRun(import.meta.url, async () => {
  const port = portOf(process.argv.slice(2))
  await build()
  const { url } = await serve({ port })
  console.log(`\nThe session viewer is at ${url}\nStop it with Ctrl+C.`)
})
