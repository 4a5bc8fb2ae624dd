import { element } from './dom.js'
import { formatBytes } from './format.js'
import { asText, isObject } from './json-text.js'

/** Image types that cannot run code: no SVG. */
const SAFE_IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])

/** An embedded image, or a description of other media. URLs are shown, not fetched. */
export function mediaPart({ type, source }) {
  if (!isObject(source)) return note('without a source')
  if (source.type === 'url') return element('p', { className: 'address', dir: 'auto' }, asText(source.url))
  if (source.type !== 'base64' || typeof source.data !== 'string') return note(asText(source))
  const description = `${asText(source.media_type)}, ${formatBytes(Math.floor((source.data.length * 3) / 4))}`
  if (type !== 'image' || !SAFE_IMAGES.has(source.media_type)) return note(description)
  return image(source, description)
}

function image({ media_type, data }, description) {
  const node = element('img', { alt: `Image: ${description}`, loading: 'lazy', decoding: 'async' })
  node.addEventListener('error', () => node.replaceWith(note(`${description}, which cannot be shown`)), { once: true })
  // Only base64: a `#` or `,` would change the URL.
  node.src = `data:${media_type};base64,${data.replace(/[^A-Za-z0-9+/=]/g, '')}`
  return node
}

function note(text) {
  return element('p', { className: 'media-note', dir: 'auto' }, text)
}
