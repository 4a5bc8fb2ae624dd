// The session in the repository. `npm run demo:browser` serves a list of its files beside them.
const FOLDER = new URL('../demo-session/', import.meta.url)

/** Its files, in the form of picked files. */
export async function demoFiles() {
  const paths = await (await get('files.json')).json()
  return Promise.all(paths.map(async (path) => ({ path, file: await (await get(path)).blob() })))
}

async function get(path) {
  const url = new URL(path.split('/').map(encodeURIComponent).join('/'), FOLDER)
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status} ${response.statusText}`)
  return response
}
