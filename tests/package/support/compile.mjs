// Compiles TypeScript as a user of the package does.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './files.mjs'
import { folder, root } from './installed.mjs'

const compiler = join(
  root,
  'node_modules',
  'typescript',
  JSON.parse(readFileSync(join(root, 'node_modules', 'typescript', 'package.json'), 'utf8')).bin.tsc,
)

/** Compiles files as a project beside the installed package; resolves to the compiler's output, which is empty on success. */
async function compile(t, files, options, manifest = { type: 'module' }) {
  const project = mkdtempSync(join(folder, 'types-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    types: [],
    lib: ['es2022'],
    target: 'es2022',
    skipLibCheck: false,
    ...options,
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }))
  for (const [name, source] of Object.entries(files)) writeFileSync(join(project, name), source)
  mkdirSync(join(project, 'node_modules'), { recursive: true })
  try {
    await run(process.execPath, [compiler, '-p', project], { cwd: project })
    return ''
  } catch (error) {
    return error.message.split('\n').slice(1).join('\n').trim()
  }
}

/** Compiles files, which must succeed. */
export async function compiles(...project) {
  const said = await compile(...project)
  assert.ok(said === '', said)
}
