// The golden files: answers of the reference, written by tests/reference/make-golden.mjs, so that the comparison needs no
// Python.
import { createHash } from 'node:crypto'
import { canonicalFile } from './ours.mjs'

export const GOLDEN = new URL('../golden/', import.meta.url)

const LONGEST = 120

/**
 * An answer to a step with digests instead of long texts, so that the golden files stay small. Files that existed at the
 * start are left out: the package writes only changed ones.
 */
export function condensed({ result, active, dumps }, start) {
  const kept = { ...result }
  delete kept.message
  if (kept.error) kept.error = true
  if (kept.windows) kept.windows = kept.windows.map(short)
  if (kept.messages) kept.messages = short(kept.messages)
  if (kept.files) {
    const files = Object.entries(kept.files).filter(([name]) => !(name in (start.files ?? {})))
    kept.files = mapped(Object.fromEntries(files), (text) => short(canonicalFile(text)))
  }
  return { result: kept, active, dumps: mapped(dumps, short) }
}

/** The last dump of each context. */
export function finalDumps(outcomes) {
  return Object.assign({}, ...outcomes.map(({ dumps }) => dumps))
}

function mapped(object, change) {
  return Object.fromEntries(
    Object.entries(object)
      .sort()
      .map(([key, value]) => [key, change(value)]),
  )
}

function short(text) {
  if (text === null || text.length <= LONGEST) return text
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
