import { getPlatform } from './platform.js'
import type { ResponseLike } from './sources.js'

/**
 * What a source stands for: the content of an address, a response that was checked, or the source itself.
 * @internal
 */
export async function contentOf(source: unknown): Promise<unknown> {
  const given = (await source) as string | object
  if (typeof given === 'string') return fetchAddress(given)
  if ('href' in given) return fetchAddress(String(given.href))
  return 'ok' in given ? checkAnswer(given as ResponseLike) : given
}

async function fetchAddress(href: string): Promise<unknown> {
  const { readFile } = getPlatform()
  return readFile !== undefined && /^file:/i.test(href) ? readFile(new URL(href)) : checkAnswer(await fetch(href))
}

/** Refuses a failure, and the page that servers send for an address that they do not know. */
function checkAnswer(response: ResponseLike): ResponseLike {
  const { url, ok, status, statusText, headers } = response
  if (!ok) throw new Error(`${url} answered ${status} ${statusText}`)
  if (/^text\/html/i.test(headers?.get('content-type') ?? '')) {
    throw new Error(
      `${url} answered with a page of HTML; the server must serve the file of peteos-session there ` +
        "(with Vite 7 or older: set optimizeDeps.exclude to ['peteos-session'])",
    )
  }
  return response
}
