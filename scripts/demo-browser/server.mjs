// Serves the files that the page of examples/browser/ needs, and nothing else in the repository.
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

const PAGE = '/examples/browser/'
/** Lists the files of the demo session, because a page cannot list a directory. */
const DEMO_LIST = '/examples/demo-session/files.json'

/** sirv is imported late, because set-up may have installed the npm packages only just now. */
export async function createDemoServer(root) {
  const { default: sirv } = await import('sirv')
  const setHeaders = (response) => response.setHeader('X-Content-Type-Options', 'nosniff')
  // `dev` reads the files at each request, so that edits show at once.
  const mounts = ['/examples', '/dist'].map((path) => ({
    path,
    serve: sirv(join(root, path), { dev: true, setHeaders }),
  }))

  return createServer(async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return end(response.setHeader('Allow', 'GET, HEAD'), 405, 'only GET and HEAD are supported')
    }
    if (request.url === '/') return end(response.setHeader('Location', PAGE), 302, PAGE)
    if (request.url === DEMO_LIST) return sendDemoList(root, response)
    const mount = mounts.find(({ path }) => request.url.startsWith(`${path}/`))
    if (!mount) return end(response, 404, 'not found')
    request.url = request.url.slice(mount.path.length)
    mount.serve(request, response, () => end(response, 404, 'not found'))
  })
}

async function sendDemoList(root, response) {
  try {
    const names = await readdir(join(root, 'examples', 'demo-session'), { recursive: true })
    const paths = names.filter((name) => name.endsWith('.json')).map((name) => name.replaceAll('\\', '/'))
    end(response.setHeader('Content-Type', 'application/json'), 200, JSON.stringify(paths.sort()))
  } catch (error) {
    end(response, 500, error.message)
  }
}

function end(response, status, body) {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body) }).end(body)
}
