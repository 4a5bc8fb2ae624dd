// Every TypeScript and JavaScript block of the documentation compiles under `strict` against the installed package and runs
// in an empty folder. A block that cannot run here, because it needs a browser or a provider's server, has the flag "no-run" in
// its info string ("ts no-run"), and is only compiled.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { exampleBlocks, fencedBlocks } from '../support/code-blocks.mjs'
import { run, tempDir } from '../support/files.mjs'
import { filesUnder, folder, packageDir, root } from '../support/installed.mjs'

const EXTENSIONS = { ts: 'mts', typescript: 'mts', js: 'mjs', javascript: 'mjs' }
/** Languages of blocks that are not run. */
const OTHER_LANGUAGES = ['', 'html', 'json', 'text', 'rust', 'sh']
const FLAGS = ['no-run']
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

const pages = [...packedMarkdown(), ...filesUnder(join(root, 'examples')).filter((file) => file.endsWith('.md'))].map(
  (file) => ({ file, blocks: fencedBlocks(readFileSync(file, 'utf8')) }),
)
const sources = filesUnder(join(root, 'js'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, blocks: exampleBlocks(readFileSync(file, 'utf8')) }))
const all = [...pages, ...sources].flatMap(({ file, blocks }) => {
  const name = file.startsWith(packageDir) ? relative(packageDir, file) : relative(root, file)
  return blocks.map((block) => ({ ...block, file: name, title: `${name}:${block.line}` }))
})
const blocks = all.filter(({ language }) => language in EXTENSIONS)

/** Blocks that import an SDK: the declarations of SDKs do not compile under `skipLibCheck: false`. */
const usesSdk = ({ source }) =>
  [...source.matchAll(/ from '([^']+)'/g)].some(([, name]) => !/^(peteos-session|node:)/.test(name))
const PROJECTS = {
  'our declarations': {
    blocks: blocks.filter((block) => !usesSdk(block)),
    options: { exactOptionalPropertyTypes: true, skipLibCheck: false },
  },
  'the SDKs': { blocks: blocks.filter(usesSdk), options: { skipLibCheck: true } },
}

// Beside the installed package, so that its name resolves as it does for a user.
const project = mkdtempSync(join(folder, 'examples-'))

before(() => {
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n')
  for (const [index, { blocks, options }] of Object.values(PROJECTS).entries()) {
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      allowJs: true,
      checkJs: true,
      module: 'nodenext',
      moduleDetection: 'force',
      target: 'es2022',
      lib: ['es2022', 'esnext.disposable', 'dom', 'dom.iterable'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      rootDir: '.',
      outDir: 'out',
      ...options,
    }
    const files = blocks.map(sourceName)
    writeFileSync(join(project, `tsconfig.${index}.json`), JSON.stringify({ compilerOptions, files }))
    for (const block of blocks) writeFileSync(join(project, sourceName(block)), block.source)
  }
})

after(() => rmSync(project, { recursive: true, force: true }))

test('the README begins with an agent loop within its first 40 lines', () => {
  const [loop] = blocks.filter(({ file }) => file === 'README.md')
  assert.ok(loop.line <= 40, `the first block begins in line ${loop.line}`)
  for (const word of ['append', "boundary: 'turn'", 'check(', 'toMessages', 'save()']) {
    assert.ok(loop.source.includes(word), `the first block has no ${word}`)
  }
  assert.deepEqual(loop.flags, [], 'the first block runs')
})

test('the README fits on a few screens', () => {
  const lines = readFileSync(join(packageDir, 'README.md'), 'utf8').split('\n').length
  assert.ok(lines <= 130, `the README has ${lines} lines`)
})

test('every block has a known language and known flags', () => {
  for (const { title, language, flags } of all) {
    assert.ok(language in EXTENSIONS || OTHER_LANGUAGES.includes(language), `${title}: the language "${language}"`)
    assert.deepEqual(
      flags.filter((flag) => !FLAGS.includes(flag)),
      [],
      `${title}: flags`,
    )
  }
})

for (const [index, [name, { blocks }]] of Object.entries(PROJECTS).entries()) {
  test(`every block compiles under strict, with ${name}`, async () => {
    assert.ok(blocks.length > 0)
    const args = ['-p', join(project, `tsconfig.${index}.json`), '--pretty', 'false']
    let errors = ''
    try {
      await run(process.execPath, [compiler, ...args], { cwd: project, timeoutSeconds: 180 })
    } catch (error) {
      errors = error.message.split('\n').slice(1).join('\n').trim()
    }
    assert.equal(
      blocks.reduce((text, block) => text.replaceAll(sourceName(block), block.title), errors),
      '',
    )
  })
}

for (const block of blocks.filter(({ flags }) => !flags.includes('no-run'))) {
  test(`${block.title} runs`, async (t) => {
    const file = join(project, 'out', sourceName(block).replace('.mts', '.mjs'))
    const output = (await run(process.execPath, [file], { cwd: tempDir(t) })).split('\n')
    for (const expected of promisedOutput(block.source)) {
      const at = output.findIndex((line) => line.includes(expected))
      assert.notEqual(at, -1, `prints ${expected}`)
      output.splice(0, at + 1)
    }
  })
}

/** The output promised by comments after `console.log(…)`, up to a colon that begins an explanation. */
function promisedOutput(source) {
  return [...source.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, comment]) => comment.split(': ')[0])
}

/** The pages of the tarball. */
function packedMarkdown() {
  return filesUnder(packageDir).filter((file) => file.endsWith('.md'))
}

function sourceName({ file, line, language }) {
  return `${file.replaceAll(/[^A-Za-z0-9]/g, '-')}-${line}.${EXTENSIONS[language]}`
}
