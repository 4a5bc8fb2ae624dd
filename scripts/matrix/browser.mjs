// Opens pages in Chromium.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { chromium, chromiumFlags } from '../setup/chromium.mjs'
import { npmPackages } from '../setup/npm.mjs'
import { once } from '../setup/steps.mjs'

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
}
/** How long a page may take, in milliseconds. */
const PATIENCE = 60_000

let opened
const browser = once(async () => {
  await npmPackages()
  const { chromium: playwright } = await import('playwright-core')
  const { chrome } = await chromium()
  opened = await playwright.launch({ executablePath: chrome, args: chromiumFlags })
  return opened
})

export async function closeBrowser() {
  await opened?.close()
}

/** Opens a page; resolves to its `globalThis.result`, which may be a promise, or to the text of the element `selector`. */
export async function open(address, { selector } = {}) {
  const context = await (await browser()).newContext()
  const page = await context.newPage()
  const complaints = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  try {
    await page.goto(address)
    if (selector === undefined) {
      await page.waitForFunction(() => globalThis.result !== undefined, undefined, { timeout: PATIENCE })
      return await page.evaluate(() => globalThis.result)
    }
    await page.waitForFunction((css) => document.querySelector(css)?.textContent, selector, { timeout: PATIENCE })
    return await page.textContent(selector)
  } catch (error) {
    throw new Error(`${error.message}\nThe page said: ${complaints.join('\n') || 'nothing'}`)
  } finally {
    await context.close()
  }
}

/**
 * Serves the files of a folder while `work`, which gets the address, runs. `pages` are texts by path, `headers` are sent with
 * everything. Unknown addresses get the page, as many development servers do, with `fallback`.
 */
export async function withFiles(folder, { pages = {}, headers = {}, fallback } = {}, work) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
    const text = pages[path] ?? (await readFile(join(folder, normalize(path))).catch(() => fallback))
    response.setHeader(
      'content-type',
      text === fallback ? 'text/html' : (TYPES[extname(path)] ?? 'application/octet-stream'),
    )
    response.writeHead(text === undefined ? 404 : 200).end(text)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work(`http://127.0.0.1:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** A page with a script. */
export const pageWith = (script, type = 'module') =>
  `<!doctype html><meta charset="utf-8"><script type="${type}" src="${script}"></script>`

/** Serves a folder and opens a page with one of its scripts. */
export async function openScript(folder, script, { type, ...options } = {}) {
  return withFiles(folder, { ...options, pages: { '/index.html': pageWith(script, type) } }, open)
}
