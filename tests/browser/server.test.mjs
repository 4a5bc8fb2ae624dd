// The demo server serves what the page needs, and nothing else.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { serve } from '../../scripts/demo-browser.mjs'
import { root } from '../../scripts/setup/steps.mjs'

let server
before(async () => {
  server = await serve()
})
after(() => server.close())

/** Requests a path verbatim: fetch and URL would resolve `..` first. */
function get(path, method = 'GET') {
  const { port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    asked.on('error', reject).end()
  })
}

test('listens on localhost only', () => {
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/examples\/browser\/$/)
})

test('serves files with their types', async () => {
  const types = {
    '/examples/browser/': 'text/html;charset=utf-8',
    '/examples/browser/app.js': 'text/javascript',
    '/examples/browser/style.css': 'text/css',
    '/dist/browser.js?v=1': 'text/javascript',
    '/dist/peteos_session_bg.wasm': 'application/wasm',
    '/dist/peteos_session_providers_bg.wasm': 'application/wasm',
    '/dist/encodings/cl100k_base.bin': 'application/octet-stream',
    '/examples/demo-session/files.json': 'application/json',
  }
  for (const [path, type] of Object.entries(types)) {
    const { status, headers, body } = await get(path)
    assert.equal(status, 200, path)
    assert.equal(headers['content-type'], type, path)
    assert.equal(Number(headers['content-length']), body.length, path)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

test('redirects the root to the page', async () => {
  const { status, headers } = await get('/')
  assert.equal(status, 302)
  assert.equal(headers.location, '/examples/browser/')
})

test('serves nothing outside examples/ and dist/', async () => {
  const paths = [
    '/package.json',
    '/../package.json',
    '/examples/../package.json',
    '/dist/../../etc/passwd',
    '/examples/%2e%2e/package.json',
    '/examples%2f..%2fpackage.json',
    '/examples/..%5cpackage.json',
    '/dist/%00',
    '/%',
    '/%ff',
    '//package.json',
    '/distant',
    '/.git/config',
    '/dist',
    '/dist/',
    '/examples/',
    `/dist/${'a'.repeat(5000)}`,
    '/examples/browser/app.js/x',
    'http://127.0.0.1/package.json',
    '*',
  ]
  for (const path of paths) assert.equal((await get(path)).status, 404, path)
})

test('answers HEAD without a body, and refuses methods other than GET and HEAD', async () => {
  const head = await get('/dist/browser.js', 'HEAD')
  assert.equal(head.status, 200)
  assert.equal(head.body.length, 0)
  for (const method of ['POST', 'PUT', 'DELETE']) assert.equal((await get('/dist/browser.js', method)).status, 405)
})

test('lists the files of the demo session', async () => {
  const paths = JSON.parse((await get('/examples/demo-session/files.json')).body)
  assert.ok(
    paths.some((path) => /^[^/]+\/session\.json$/.test(path)),
    String(paths),
  )
  for (const path of paths) assert.equal((await get(`/examples/demo-session/${path}`)).status, 200, path)
})

test('a port that is taken or invalid is a readable error', async () => {
  const { port } = new URL(server.url)
  await assert.rejects(serve({ port: Number(port) }), /cannot be served on port/)
  const child = spawn(process.execPath, [join(root, 'scripts', 'demo-browser.mjs'), '--port', 'many'], {
    stdio: 'pipe',
  })
  let output = ''
  child.stderr.on('data', (text) => {
    output += text
  })
  assert.equal(await new Promise((resolve) => child.on('close', resolve)), 1)
  assert.match(output, /--port: expected a number/)
})
