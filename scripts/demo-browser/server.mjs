// A server of files for the demo: what the page needs, and nothing else of the repository.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { listDemoFiles } from './demo-files.mjs'
import { findFile } from './find-file.mjs'
import { mimeType } from './mime-types.mjs'

const PAGE = '/examples/browser/'
/** The list that the page finds the demo session's files in. */
const DEMO_LIST = '/examples/demo-session/files.json'

export function createDemoServer(root) {
  return createServer(async (request, response) => {
    try {
      await answer(root, request, response)
    } catch (error) {
      if (response.headersSent) response.destroy()
      else send(response, 500, 'text/plain', `${error.message}\n`)
    }
  })
}

async function answer(root, request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return send(response, 405, 'text/plain', 'only GET and HEAD\n')
  }
  const [path] = request.url.split('?')
  if (path === '/') {
    response.setHeader('Location', PAGE)
    return send(response, 302, 'text/plain', `${PAGE}\n`)
  }
  if (path === DEMO_LIST) {
    return send(response, 200, 'application/json', JSON.stringify(await listDemoFiles(root)))
  }
  const file = await findFile(root, path.endsWith('/') ? `${path}index.html` : path)
  if (file === null) return send(response, 404, 'text/plain', 'not found\n')
  send(response, 200, mimeType(file), await readFile(file))
}

/** To a HEAD request Node sends the head alone. */
function send(response, status, type, body) {
  const isText = type.startsWith('text/')
  response.writeHead(status, {
    'Content-Type': isText ? `${type}; charset=utf-8` : type,
    'Content-Length': Buffer.byteLength(body),
    // The files change while somebody works on them.
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(body)
}
