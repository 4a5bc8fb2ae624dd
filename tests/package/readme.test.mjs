// The README's quick start, run as it is written.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { folder, packageDir } from './installed.mjs'
import { run, tempDir } from './support/files.mjs'

/** The first block of JavaScript under a heading. */
function firstBlock(markdown, heading) {
  const lines = markdown.split('\n')
  const start = lines.findIndex(
    (line) => /^#+ /.test(line) && line.replace(/^#+ /, '').trim().toLowerCase() === heading,
  )
  assert.notEqual(start, -1, `README.md has no heading "${heading}"`)
  const level = lines[start].match(/^#+/)[0].length
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.match(/^#+/)[0].length <= level)
  const section = (end === -1 ? rest : rest.slice(0, end)).join('\n')
  const block = section.match(/^```js\n([\s\S]*?)^```$/m)
  assert.ok(block, `README.md has no \`\`\`js block under "${heading}"`)
  return block[1]
}

test('the quick start of the README runs as it is written', async (t) => {
  const source = firstBlock(readFileSync(join(packageDir, 'README.md'), 'utf8'), 'quick start')
  assert.match(source, /from ['"]peteos-session['"]/)
  assert.match(source, /\.save\(\)/)
  // Beside node_modules, so that the package is found; in a directory of its own, because it writes files.
  const file = join(folder, `.quick-start-${process.pid}.mjs`)
  writeFileSync(file, source)
  t.after(() => rmSync(file, { force: true }))
  await run(process.execPath, [file], { cwd: tempDir(t) })
})
