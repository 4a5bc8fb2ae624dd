import { element } from './dom.js'
import { asText, isObject } from './json-text.js'
import { longText } from './long-text.js'

const SHORT = 120

/** The metadata of a message: one line if it is short, otherwise collapsed. */
export function renderMetadata(metadata) {
  const line = asLine(metadata)
  if (line !== null) return element('p', { className: 'metadata', dir: 'auto' }, line)
  const text = longText(asText(metadata), { lines: 20, characters: 2000, className: 'code' })
  return element('details', { className: 'metadata' }, element('summary', {}, 'Metadata'), text)
}

function asLine(metadata) {
  if (!isObject(metadata)) return null
  const entries = Object.entries(metadata)
  if (entries.some(([, value]) => typeof value === 'object' && value !== null)) return null
  const line = entries.map(([key, value]) => `${key}: ${asText(value)}`).join(' · ')
  return line.length > SHORT || line.includes('\n') ? null : line
}
