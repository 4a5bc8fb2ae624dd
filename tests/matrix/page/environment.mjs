import { open, pageWith, withFiles } from '../../../scripts/matrix/browser.mjs'

// Without a bundler, pages and workers import the package by its path.
const PATH = '/node_modules/peteos-session/dist/browser.js'
const CSP = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'"

const app = (answer) => `
  import { init, loadEncoding, MemoryStorage, Session, toMessages } from '${PATH}'
  import { scenario } from '/scenario.mjs'
  async function run() {
    await init()
    await loadEncoding('o200k_base')
    return scenario({ Session, toMessages }, { storage: new MemoryStorage() })
  }
  ${answer}
`
const inPage = app('globalThis.result = run().catch(String)')
const inWorker = app(
  "addEventListener('message', ({ data, ports }) => run().catch(String).then((said) => (ports[0] ?? globalThis).postMessage(said)))",
)

export const environment = {
  async run({ folder, check }) {
    const page = (pages, options) =>
      withFiles(folder, { pages: { '/index.html': pageWith('/app.mjs'), ...pages }, ...options }, open)
    await check('a page without a bundler', () => page({ '/app.mjs': inPage }))
    await check('a page with a strict content security policy', () =>
      page({ '/app.mjs': inPage }, { headers: { 'content-security-policy': CSP } }),
    )
    await check('a module worker', () =>
      page({
        '/worker.mjs': inWorker,
        '/app.mjs': `
          const worker = new Worker('/worker.mjs', { type: 'module' })
          globalThis.result = new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = ({ message }) => resolve(message) })
          worker.postMessage('start')`,
      }),
    )
    await check('a service worker', () =>
      page({
        // Browsers refuse the late imports of dist/browser.js there.
        '/worker.mjs': inWorker.replace('browser.js', 'inline.js'),
        '/app.mjs': `
          globalThis.result = (async () => {
            await navigator.serviceWorker.register('/worker.mjs', { type: 'module' })
            const { active } = await navigator.serviceWorker.ready
            const { port1, port2 } = new MessageChannel()
            active.postMessage('start', [port2])
            return new Promise((resolve) => { port1.onmessage = ({ data }) => resolve(data) })
          })()`,
      }),
    )
    await check('a server that answers with its page in place of the module: the error names the address', async () => {
      const fallback = pageWith('/app.mjs')
      const said = await withFiles(
        folder,
        { pages: { '/app.mjs': inPage.replace('init()', "init('/missing')") }, fallback },
        open,
      )
      for (const part of ['NotInitializedError', '/missing', 'HTML']) {
        if (!said.includes(part)) throw new Error(`the error does not name ${part}: ${said}`)
      }
    })
  },
}
