// docs/api.md lists every export, member, option, error code, encoding and entry point of the package, and no others.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { load, packageDir, root } from '../support/installed.mjs'

// The compiler that ts-json-schema-generator depends on, because TypeScript 7 has no API.
const ts = createRequire(createRequire(join(root, 'package.json')).resolve('ts-json-schema-generator'))('typescript')
const peteos = await load('peteos-session')
const page = readFileSync(join(packageDir, 'docs', 'api.md'), 'utf8')
const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'))

/** The tables of the page: `{ section, head, rows }`, cells as texts. */
const tables = readTables(page)
const rows = (section, first) =>
  tables.filter((table) => table.section === section && table.head[0] === first).flatMap((table) => table.rows)
/** The texts in backticks of a cell. */
const codes = (cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text.replaceAll('\\|', '|'))
const nameOf = (signature) => signature.replace(/\(.*/, '')

/** The exports of each entry point, from the declarations. */
const ENTRIES = {
  'peteos-session': 'index.d.ts',
  'peteos-session/node': 'storage/node.d.ts',
  'peteos-session/browser-storage': 'entry/browser-storage.d.ts',
  'peteos-session/testing': 'testing/index.d.ts',
}
const declarations = declaredExports()

test('every export is named, and every capitalised name in a table is an export', () => {
  const named = new Set(codesOfPage().flatMap((code) => code.match(/[A-Za-z]+/g)))
  const exported = [...new Set(Object.values(declarations).flatMap((symbols) => symbols.map(({ name }) => name)))]
  assert.deepEqual(
    exported.filter((name) => !named.has(name)),
    [],
    'exports that the page does not name',
  )
  const BUILT_IN = [
    'Promise',
    'Readonly',
    'Record',
    'URL',
    'EIO',
    'ENOENT',
    'ENOSPC',
    'EACCES',
    'ELOCKED',
    'ELOCKLOST',
    'ETIMEDOUT',
    'AbortSignal',
  ]
  const typeNames = tables
    .flatMap(({ rows }) => rows.flat())
    .flatMap(codes)
    .flatMap((code) => code.match(/\b[A-Z][a-zA-Z]*[a-z][a-zA-Z]*\b/g) ?? [])
  assert.deepEqual(
    [...new Set(typeNames)].filter((name) => !exported.includes(name) && !BUILT_IN.includes(name)),
    [],
    'names that are not exported',
  )
  const values = Object.keys(peteos).filter((name) => name !== 'default')
  assert.deepEqual(
    values.filter((name) => !exported.includes(name)),
    [],
  )
})

for (const name of ['Session', 'Context']) {
  test(`the tables of ${name} have its members`, () => {
    const { statics, methods, properties } = membersOf(name)
    const documented = (kind) =>
      rows(name, kind)
        .flatMap(([first]) => codes(first))
        .map(nameOf)
        .sort()
    assert.deepEqual(documented('static method'), statics)
    assert.deepEqual(documented('method'), methods)
    assert.deepEqual(documented('property'), properties)
  })
}

test('the table of factories lists all of them', () => {
  const documented = rows('Messages', 'factory')
    .flatMap(([first]) => codes(first))
    .map(nameOf)
  const factories = ['Message', 'SystemPromptMessage', 'ToolDefinitionsMessage', 'ContentPart']
  assert.deepEqual(
    documented.sort(),
    factories.flatMap((name) => Object.keys(peteos[name]).map((key) => `${name}.${key}`)).sort(),
  )
})

test('the tables list every function', () => {
  const functions = Object.entries(peteos).filter(
    ([, value]) => typeof value === 'function' && !/^class\b/.test(String(value)),
  )
  const documented = ['Tokens', 'Costs', 'Providers']
    .flatMap((section) => rows(section, 'function'))
    .flatMap(([first]) => codes(first))
    .map(nameOf)
  assert.deepEqual(documented.sort(), functions.map(([name]) => name).sort())
})

test('the table of errors lists every class with its code and fields', () => {
  const documented = Object.fromEntries(
    rows('Errors', 'class').map(([name, code, , fields]) => [
      codes(name)[0],
      { code: codes(code)[0], fields: codes(fields) },
    ]),
  )
  const classes = Object.entries(peteos).filter(
    ([, value]) => value === peteos.SessionError || value?.prototype instanceof peteos.SessionError,
  )
  assert.deepEqual(Object.keys(documented).sort(), classes.map(([name]) => name).sort())
  for (const [name, Class] of classes.filter(([name]) => !['SessionError', 'StorageError'].includes(name))) {
    const error = new Class('text', {})
    assert.equal(documented[name].code, error.code, name)
    assert.deepEqual(
      documented[name].fields.filter((field) => !(field in error) && field !== 'cause'),
      [],
      name,
    )
  }
  assert.equal(new peteos.StorageError('text', { operation: 'read', path: 'a' }).code, 'EIO')
})

test('the table of encodings lists the known ones', () => {
  const documented = rows('Tokens', 'encoding').flatMap(([first]) => codes(first))
  let known
  try {
    peteos.countTokens('', 'unknown')
  } catch (error) {
    known = error.known
  }
  assert.deepEqual(documented.sort(), [...known].sort())
})

test('the table of options lists the options that each function reads', async () => {
  const documented = new Map()
  for (const [options, of] of rows('Options', 'option')) {
    for (const option of codes(options))
      for (const what of of.split(',')) add(documented, what.replaceAll('`', '').trim(), option)
  }
  const read = async (call) => {
    const names = new Set()
    const options = new Proxy({}, { get: (_, name) => void (typeof name === 'string' && names.add(name)) })
    try {
      await call(options)
    } catch {
      // The options that it read before it failed are enough.
    }
    return [...names].sort()
  }
  const storage = new peteos.MemoryStorage()
  const context = peteos.Context.create()
  const session = peteos.Session.create('a', { storage })
  const one = async (...calls) => [...new Set((await Promise.all(calls.map(read))).flat())].sort()
  const windows = await read((options) => context.planSequenceWindow(1, options))
  const tokenWindows = await read((options) => context.planTokenWindow(1, 'cl100k_base', options))
  const counts = await read((options) => context.totalTokenCount('cl100k_base', options))
  const measured = {
    'Session.create': await read((options) => peteos.Session.create('a', options)),
    'Session.load': await read((options) => peteos.Session.load('a', 'b', options)),
    'Session.list': await read((options) => peteos.Session.list('a', options)),
    'Session.check': await read((options) => peteos.Session.check('a', 'b', options)),
    'Session.checkAll': await read((options) => peteos.Session.checkAll('a', options)),
    'Session.repair': await read((options) => peteos.Session.repair('a', 'b', options)),
    'Session.update': await read((options) => peteos.Session.update('a', 'b', () => undefined, options)),
    save: await read((options) => session.save(options)),
    loadContext: await read((options) => session.loadContext('x', options)),
    listContexts: await read((options) => session.listContexts(options)),
    transcript: await read((options) => session.transcript(options)),
    'Context.create': await read((options) => peteos.Context.create(options)),
    'Context.fromDict': await read((options) => peteos.Context.fromDict({}, options)),
    fork: await read((options) => context.fork(options)),
    addAnchor: await read((options) => context.addAnchor('x', 0, options)),
    'windows and plans': windows,
    'token windows and plans': tokenWindows.filter((name) => !windows.includes(name) && !counts.includes(name)),
    'token windows, plans and counts': counts,
    countTokens: await read((options) => peteos.countTokens('', 'cl100k_base', options)),
    fromMessages: await read((options) => peteos.fromMessages([], 'anthropic', options)),
    init: await read((options) => peteos.init(options)),
    toMessages: await read((options) => peteos.toMessages(context, 'anthropic', options)),
  }
  // "token windows, plans and counts" has a comma of its own.
  add(documented, 'token windows, plans and counts', ...(documented.get('token windows') ?? []))
  for (const part of ['token windows', 'plans and counts']) documented.delete(part)
  assert.deepEqual(
    Object.fromEntries([...documented].map(([name, options]) => [name, [...options].sort()]).sort()),
    Object.fromEntries(Object.entries(measured).sort()),
  )
  // The same options belong to the windows of a session.
  assert.deepEqual(await one((options) => session.rollingSequenceWindow(1, options)), windows)
  assert.deepEqual(await one((options) => session.rollingTokenWindow(1, 'cl100k_base', options)), tokenWindows)
})

test('the table of adapters lists their options', async () => {
  const documented = Object.fromEntries(
    rows('Storage adapters', 'class').map(([name, , , options]) => [codes(name)[0], options]),
  )
  assert.deepEqual(Object.keys(documented).sort(), [
    'IndexedDBStorage',
    'MemoryStorage',
    'NodeFileStorage',
    'OPFSStorage',
  ])
  for (const [entry, type, classes] of [
    ['peteos-session/node', 'NodeFileStorageOptions', ['NodeFileStorage']],
    ['peteos-session/browser-storage', 'BrowserStorageOptions', ['IndexedDBStorage', 'OPFSStorage']],
  ]) {
    const options = declarations[entry].find(({ name }) => name === type).properties
    for (const name of classes)
      for (const option of options) assert.ok(codes(documented[name]).includes(option), `${name}: ${option}`)
  }
  const methods = declarations['peteos-session'].find(({ name }) => name === 'SessionStorage').properties
  assert.deepEqual(
    rows('Storage adapters', 'method')
      .map(([first]) => nameOf(codes(first)[0]))
      .sort(),
    [...methods].sort(),
  )
})

test('the table of entry points lists those of the package', () => {
  const documented = new Set(rows('Entry points', 'import').map(([first]) => codes(first)[0]))
  assert.ok(documented.delete('peteos-session/encodings/<name>'))
  const files = ['.', './node', './browser-storage', './inline', './slim', './testing']
  assert.deepEqual([...documented].sort(), files.map((name) => name.replace(/^\./, 'peteos-session')).sort())
  for (const name of files) assert.ok(name in manifest.exports, name)
  const scripts = Object.keys(manifest.exports).filter(
    (name) => !/\.(wasm|json)(\?module)?$|\*|^\.\/encodings\//.test(name),
  )
  assert.deepEqual(scripts.sort(), files.sort())
})

function add(map, key, ...values) {
  map.set(key, new Set([...(map.get(key) ?? []), ...values]))
}

function codesOfPage() {
  return codes(page.replaceAll(/^```[\s\S]*?^```$/gm, ''))
}

function readTables(markdown) {
  const found = []
  let section = ''
  let table = null
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3)
    if (!line.startsWith('|')) {
      table = null
      continue
    }
    const cells = line
      .replace(/^\| ?| ?\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
    if (table === null) {
      table = { section, head: cells, rows: [] }
      found.push(table)
    } else if (!/^[-: ]+$/.test(cells[0])) {
      table.rows.push(cells)
    }
  }
  return found
}

/** For each entry the exported symbols, with the names of their properties. */
function declaredExports() {
  const types = join(packageDir, 'dist', 'types', 'esm')
  const files = Object.fromEntries(Object.entries(ENTRIES).map(([entry, file]) => [entry, join(types, file)]))
  for (const file of Object.values(files)) assert.ok(existsSync(file), `${file} does not exist`)
  const program = ts.createProgram(Object.values(files), {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
  })
  const checker = program.getTypeChecker()
  return Object.fromEntries(
    Object.entries(files).map(([entry, file]) => {
      const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
      return [entry, symbols.map((symbol) => describe(checker, symbol))]
    }),
  )
}

function describe(checker, symbol) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const isClass = (target.flags & ts.SymbolFlags.Class) !== 0
  const members =
    target.flags & ts.SymbolFlags.Type ? checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(target)) : []
  const isMethod = (member) => (member.flags & ts.SymbolFlags.Method) !== 0
  // Members that are symbols, such as `Symbol.dispose`, have names that begin with two underscores here.
  const shown = members.filter(({ escapedName }) => !escapedName.startsWith('__'))
  return {
    name: symbol.name,
    properties: shown.map(({ name }) => name),
    methods: shown
      .filter(isMethod)
      .map(({ name }) => name)
      .sort(),
    fields: shown
      .filter((member) => !isMethod(member))
      .map(({ name }) => name)
      .sort(),
    statics: isClass ? [...target.exports.keys()].filter((name) => name !== 'prototype').sort() : [],
  }
}

function membersOf(name) {
  const { methods, fields, statics } = declarations['peteos-session'].find((symbol) => symbol.name === name)
  return { statics, methods, properties: fields }
}
