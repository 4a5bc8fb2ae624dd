// Every relative link of the pages in the tarball leads to a file in the tarball and to an existing heading.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { packageDir, packedFiles } from '../support/installed.mjs'

const pages = packedFiles.filter((file) => file.endsWith('.md'))
const textOf = (file) => readFileSync(join(packageDir, file), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
/** The targets of inline links and pictures, and of reference definitions. */
const targetsOf = (text) => [
  ...[...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target),
  ...[...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)].map(([, target]) => target),
]

/** The fragments that GitHub gives to headings. */
function fragmentsOf(text) {
  const seen = new Map()
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
    const plain = heading.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const fragment = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(fragment) ?? 0
    seen.set(fragment, times + 1)
    return times === 0 ? fragment : `${fragment}-${times}`
  })
}

test('the tarball has the documentation', () => {
  for (const file of [
    'README.md',
    'docs/README.md',
    'docs/api.md',
    'docs/format.md',
    'docs/schemas/session.schema.json',
  ]) {
    assert.ok(packedFiles.includes(file), file)
  }
})

for (const page of pages) {
  test(`the links of ${page} resolve in the tarball`, () => {
    for (const target of targetsOf(textOf(page)).filter((target) => !/^[a-z]+:/.test(target))) {
      const [path, fragment] = target.split('#')
      const file = path === '' ? page : posix.normalize(posix.join(dirname(page), path))
      assert.ok(packedFiles.includes(file), `${target}: ${file} is not in the tarball`)
      if (fragment !== undefined) {
        assert.ok(fragmentsOf(textOf(file)).includes(fragment), `${target}: ${file} has no such heading`)
      }
    }
  })
}

test('the index of docs lists every page', () => {
  const linked = targetsOf(textOf('docs/README.md')).map((target) => posix.normalize(posix.join('docs', target)))
  assert.deepEqual(
    pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !linked.includes(page)),
    [],
  )
})
