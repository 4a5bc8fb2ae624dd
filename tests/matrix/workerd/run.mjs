// Builds the worker as for a deployment, and runs the result.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Miniflare } from 'miniflare'

execFileSync(process.execPath, ['node_modules/wrangler/bin/wrangler.js', 'deploy', '--dry-run', '--outdir', 'out'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
})
const modules = readdirSync('out')
  .filter((name) => /\.(js|wasm)$/.test(name))
  .sort((one) => (one.endsWith('.js') ? -1 : 1))
  .map((name) => ({ type: name.endsWith('.js') ? 'ESModule' : 'CompiledWasm', path: `out/${name}` }))
const worker = new Miniflare({ modules, modulesRoot: 'out', compatibilityDate: '2026-01-01' })
try {
  console.log(await (await worker.dispatchFetch('http://localhost/')).text())
} finally {
  await worker.dispose()
}
