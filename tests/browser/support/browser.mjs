// One Chromium and one demo server for the tests of a file, and a fresh page for each test.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { chromium as playwright } from 'playwright-core'
import { serve } from '../../../scripts/demo-browser.mjs'
import { chromium, chromiumFlags } from '../../../scripts/setup/chromium.mjs'

/**
 * Call this at the top of a test file. Returns `withPage(work, { expected })`, which makes a test of `work(page, origin)`. The
 * test fails if the page throws, or logs an error or warning, unless it matches the regular expression `expected`.
 */
export function useBrowser() {
  let browser
  let server

  before(async () => {
    const { chrome } = await chromium()
    server = await serve()
    browser = await playwright.launch({ executablePath: chrome, args: chromiumFlags })
  })

  after(async () => {
    await browser?.close()
    await server?.close()
  })

  return (work, { expected = /$^/ } = {}) =>
    async () => {
      // A context of its own, so that a test may open further tabs that share its storage.
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
      const page = await context.newPage()
      const complaints = []
      const note = (text) => expected.test(text) || complaints.push(text)
      page.on('pageerror', (error) => note(String(error)))
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(message.text()))
      try {
        await work(page, new URL(server.url).origin)
        assert.deepEqual(complaints, [], 'the page complains')
      } finally {
        await context.close()
      }
    }
}
