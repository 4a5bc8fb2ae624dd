// The README's quick start, run as it is written.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { folder, packageDir } from '../support/installed.mjs'
import { run, tempDir } from '../support/files.mjs'

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

/** Runs the first block of JavaScript under a heading; resolves to what it prints. */
async function runBlock(t, heading) {
  const source = firstBlock(readFileSync(join(packageDir, 'README.md'), 'utf8'), heading)
  assert.match(source, /from ['"]peteos-session['"]/)
  // Beside node_modules, so that the package is found; in a directory of its own, because it writes files.
  const file = join(folder, `.${heading.replaceAll(' ', '-')}-${process.pid}.mjs`)
  writeFileSync(file, source)
  t.after(() => rmSync(file, { force: true }))
  return run(process.execPath, [file], { cwd: tempDir(t) })
}

test('the quick start of the README runs as it is written', async (t) => {
  assert.match(await runBlock(t, 'quick start'), /^8 messages, \d+ tokens$/m)
})

test('the loop under "Windows that providers accept" gives what it says', async (t) => {
  const lines = (await runBlock(t, 'windows that providers accept')).split('\n')
  assert.equal(lines[0], '[]')
  assert.match(lines.slice(1).join('\n'), /Run the tests until they pass\.[\s\S]*\b\d\d$/m)
})
