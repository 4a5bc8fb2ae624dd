// The tarball holds what package.json names and nothing else, and each entry works.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { run, runModule, tempDir } from '../support/files.mjs'
import { folder, load, packageDir, packedFiles, require, root } from '../support/installed.mjs'

const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'))
const read = (file) => readFileSync(join(packageDir, file), 'utf8')
const ofKind = (pattern) => packedFiles.filter((file) => pattern.test(file))

/** Each target of `exports` with its conditions, as `./node > import > types`. */
function targets(node, way = '') {
  if (typeof node === 'string') return [[way, node]]
  return Object.entries(node).flatMap(([key, value]) => targets(value, way === '' ? key : `${way} > ${key}`))
}

test('every file that package.json names is in the tarball', () => {
  const named = [...targets(manifest.exports), ['main', manifest.main], ['types', manifest.types]]
  assert.ok(named.length > 20)
  for (const [way, target] of named) {
    const file = posix.normalize(target)
    if (file.includes('*'))
      assert.ok(
        packedFiles.some((packed) => packed.startsWith(file.replace(/\*.*/, ''))),
        way,
      )
    else assert.ok(packedFiles.includes(file) && statSync(join(packageDir, file)).isFile(), `${way}: ${target}`)
  }
})

test('in each set of conditions types come first and default last', () => {
  const check = (node, way) => {
    if (typeof node === 'string') return
    const keys = Object.keys(node)
    if (keys.includes('types')) assert.equal(keys[0], 'types', way)
    if (keys.includes('default')) assert.equal(keys.at(-1), 'default', way)
    for (const key of keys) check(node[key], `${way} > ${key}`)
  }
  check(manifest.exports, 'exports')
})

test('the tarball holds what users need', () => {
  for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', ...MODULES.map((name) => `dist/${name}`)])
    assert.ok(packedFiles.includes(file), file)
  for (const name of ['p50k_base', 'cl100k_base', 'o200k_base']) {
    assert.ok(packedFiles.includes(`dist/encodings/${name}.bin`), name)
    assert.ok(packedFiles.includes(`dist/embedded/${name}.js`), name)
  }
  assert.equal(ofKind(/\.wasm$/).length, MODULES.length, 'one copy of each module')
  assert.match(read('LICENSE'), /MIT/)
  assert.equal(manifest.license, 'MIT')
  assert.match(read('CHANGELOG.md'), /^## /m)
  assert.deepEqual(manifest.dependencies ?? {}, {})
  for (const script of ['preinstall', 'install', 'postinstall']) assert.equal(manifest.scripts?.[script], undefined)
})

test('the tarball holds nothing else', () => {
  const stray = packedFiles.filter(
    (file) => !/^(package\.json|README\.md|CHANGELOG\.md|LICENSE|bench\/README\.md|(dist|docs)\/.*)$/.test(file),
  )
  assert.deepEqual(stray, [])
  const known = /\.([mc]?js|[mc]?js\.map|d\.ts|wasm|bin)$|^dist\/(types\/(esm|cjs)|embedded)\/package\.json$/
  assert.deepEqual(
    packedFiles.filter((file) => file.startsWith('dist/') && !known.test(file)),
    [],
  )
  assert.deepEqual(ofKind(/(^|\/)(src|tests?|target|node_modules|pkg|\.[^/]+)\//), [])
})

test('every module that a file imports is in the tarball', () => {
  for (const file of ofKind(/\.(mjs|cjs|js|d\.ts)$/)) {
    const source = read(file)
    const imports = [...source.matchAll(/(?:from|import|require)\s*\(?\s*["'](\.{1,2}\/[^"'?]+)[^"']*["']/g)].map(
      ([, path]) => path,
    )
    for (const path of imports) {
      const target = posix.join(posix.dirname(file), path)
      const declared = file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target
      assert.ok(packedFiles.includes(declared), `${file} imports ${path}`)
    }
  }
})

test('nothing is imported except from Node itself', () => {
  for (const file of ofKind(/\.(mjs|cjs|js|d\.ts)$/)) {
    const imports = [
      ...read(file).matchAll(
        /^\s*(?:import|export)\b[^'"\n]*?from\s*["']([^."'][^"']*)["']|\brequire\(["']([^."'][^"']*)["']\)/gm,
      ),
    ]
    for (const [, one, two] of imports) assert.match(one ?? two, /^node:/, `${file} imports ${one ?? two}`)
  }
})

test('files for browsers do not use Node', () => {
  const seen = new Set()
  const follow = (file) => {
    if (seen.has(file)) return
    seen.add(file)
    const source = read(file)
    assert.doesNotMatch(source, /["']node:|\brequire\(|\bprocess\.|__dirname/, file)
    for (const [, path] of source.matchAll(/(?:from|import)\s*["'](\.\/[^"']+)["']/g))
      follow(posix.join(posix.dirname(file), path))
  }
  for (const name of ['browser', 'browser-storage', 'inline', 'slim', 'testing']) follow(`dist/${name}.js`)
  assert.ok(seen.size > 3)
})

test('no entry has a top-level await, so that require works', async () => {
  await runModule(
    `
    for (const name of ['', '/node', '/browser-storage', '/inline', '/slim', '/testing']) require('peteos-session' + name)
  `,
    { extension: 'cjs' },
  )
})

test('every source map belongs to a file, holds its sources, and has no local path', () => {
  const maps = ofKind(/\.map$/)
  assert.ok(maps.length > 5)
  for (const file of maps) {
    assert.ok(packedFiles.includes(file.replace(/\.map$/, '')), file)
    const { sources, sourcesContent } = JSON.parse(read(file))
    sources.forEach((source, index) => {
      assert.doesNotMatch(source, /^(\/|[A-Za-z]:|file:)/, `${file}: ${source}`)
      const there =
        typeof sourcesContent?.[index] === 'string' || packedFiles.includes(posix.join(posix.dirname(file), source))
      assert.ok(there, `${file}: ${source}`)
    })
  }
  for (const file of ofKind(/\.(js|cjs|mjs)$/)) {
    for (const [, map] of read(file).matchAll(/\/\/# sourceMappingURL=(\S+)/g)) {
      if (!map.startsWith('data:'))
        assert.ok(packedFiles.includes(posix.join(posix.dirname(file), map)), `${file}: ${map}`)
    }
  }
})

test('no file has a local path of the build', () => {
  const home = process.env.HOME
  for (const file of packedFiles) {
    const content = readFileSync(join(packageDir, file), 'latin1')
    for (const folder of [root, home && home !== '/' && `${home}/`, '/.cargo/registry'].filter(Boolean)) {
      assert.ok(!content.includes(folder), `${file} has ${folder}`)
    }
  }
})

test('sizes stay within their limits, and the module holds no vocabulary', () => {
  for (const name of MODULES) assert.ok(statSync(join(packageDir, 'dist', name)).size < 3_000_000, name)
})

/** The WebAssembly modules, as files. */
const MODULES = ['peteos_session_bg.wasm', 'peteos_session_providers_bg.wasm']

const NAMES = [
  'ConflictError',
  'ContentPart',
  'Context',
  'ContextNotFoundError',
  'CorruptSessionError',
  'EncodingNotLoadedError',
  'InvalidArgumentError',
  'InvalidMessageError',
  'MemoryStorage',
  'Message',
  'Session',
  'SessionNotFoundError',
  'StorageError',
  'SystemPromptMessage',
  'ToolDefinitionsMessage',
  'UnknownEncodingError',
  'countTokens',
  'encodingForModel',
  'fromMessages',
  'init',
  'loadEncoding',
  'loadProviders',
  'toMessages',
]

test('every entry has all exports, under import and under require', async () => {
  for (const entry of ['peteos-session', 'peteos-session/inline', 'peteos-session/slim']) {
    const [imported, required] = [await load(entry), require(entry)]
    for (const name of NAMES) {
      assert.equal(typeof imported[name], typeof required[name], `${entry}: ${name}`)
      assert.ok(['function', 'object'].includes(typeof imported[name]), `${entry}: ${name}`)
    }
  }
})

test('entries that are loaded together share one instance', async () => {
  const entries = [
    await load('peteos-session'),
    await load('peteos-session/slim'),
    await load('peteos-session/inline'),
    require('peteos-session'),
    require('peteos-session/slim'),
    require('peteos-session/inline'),
  ]
  for (const entry of entries) {
    for (const name of NAMES) assert.equal(entry[name], entries[0][name], name)
  }
  const slim = require('peteos-session/slim')
  assert.ok(slim.Session.create('a', { storage: new slim.MemoryStorage() }) instanceof entries[0].Session)
})

test('the browser storages can be imported anywhere, and the main entry in Node does not have them', async () => {
  const stores = await load('peteos-session/browser-storage')
  assert.deepEqual(Object.keys(stores).sort(), ['IndexedDBStorage', 'OPFSStorage'])
  assert.equal(require('peteos-session/browser-storage').OPFSStorage, stores.OPFSStorage)
  assert.equal((await load('peteos-session')).IndexedDBStorage, undefined)
  const bundle = await bundled("export * from 'peteos-session/browser-storage'", { format: 'esm', platform: 'browser' })
  assert.doesNotMatch(bundle, /["']node:|require\(/)
})

test('a bundle for browsers with the conformance suite finds the module', async () => {
  const source = "import { storageConformance } from 'peteos-session/testing'\nconsole.log(storageConformance)"
  const bundle = await bundled(source, { format: 'esm', platform: 'browser' })
  assert.doesNotMatch(bundle, /["']node:|require\(/)
  assert.match(bundle, /new URL\(["']\.\/peteos_session_bg\.wasm["'], import\.meta\.url\)/)
})

test('./package.json and the raw wasm can be reached', async () => {
  assert.equal(require('peteos-session/package.json').version, manifest.version)
  for (const name of MODULES) assert.ok(WebAssembly.validate(readFileSync(require.resolve(`peteos-session/${name}`))))
  for (const name of ['r50k_base', 'p50k_base', 'cl100k_base', 'o200k_base'])
    assert.ok(existsSync(require.resolve(`peteos-session/encodings/${name}.bin`)))
  for (const hidden of ['peteos-session/dist/index.cjs', 'peteos-session/src', 'peteos-session/nothing']) {
    assert.throws(() => require.resolve(hidden), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' }, hidden)
  }
})

const RUN = `
  const session = Session.create('a', { storage: new MemoryStorage() })
  session.activeContext.append({ role: 'user', content: [{ type: 'text', text: 'Hi' }] })
  session.activeContext.append({ role: 'assistant', content: [] })
  const run = async () => {
    await session.save()
    const again = await Session.load('a', session.uuid, { storage: session.storage })
    console.log(again.rollingSequenceWindow(1).messageCount)
  }
`

for (const [kind, statement, extension] of [
  ['import', (entry) => `import { init, Session, MemoryStorage } from '${entry}'`, 'mjs'],
  ['require', (entry) => `const { init, Session, MemoryStorage } = require('${entry}')`, 'cjs'],
]) {
  test(`the inline entry works without init under ${kind}`, async () => {
    const output = await runModule(`${statement('peteos-session/inline')}\n${RUN}\nrun()`, { extension })
    assert.equal(output, '1\n')
  })

  test(`the slim entry waits for init with the module, under ${kind}`, async () => {
    const source = `${statement('peteos-session/slim')}
      const fs = ${kind === 'import' ? "await import('node:fs')" : "require('node:fs')"}
      const path = ${JSON.stringify(join(packageDir, 'dist', 'peteos_session_bg.wasm'))}
      const start = async () => {
        const failed = async (work) => { try { await work(); return 'none' } catch (error) { return error.name + ' ' + error.code } }
        const said = [
          await failed(() => Session.create('a', { storage: new MemoryStorage() })),
          await failed(() => Session.load('a', 's', { storage: new MemoryStorage() })),
          await failed(() => init()),
          await failed(() => init(new Uint8Array([1, 2, 3]))),
          await failed(() => init('http://127.0.0.1:1/x.wasm')),
          await failed(() => init({})),
          await failed(() => init(null)),
        ]
        if (!said.every((name) => name === 'NotInitializedError ERR_NOT_INITIALIZED')) throw new Error(said.join(', '))
        const bytes = fs.readFileSync(path)
        await Promise.all([init(bytes), init(bytes), init()])
        await init()
        await init('ignored now')
      }
      start().then(() => { ${RUN}; return run() })`
    assert.equal(await runModule(source, { extension }), '1\n')
  })
}

test('the slim entry accepts the module in every form', async () => {
  const path = JSON.stringify(join(packageDir, 'dist', 'peteos_session_bg.wasm'))
  const forms = [
    'bytes',
    'bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)',
    'new WebAssembly.Module(bytes)',
    'WebAssembly.compile(bytes)',
    "new Response(bytes, { headers: { 'content-type': 'application/wasm' } })",
    "Promise.resolve(new Response(bytes, { headers: { 'content-type': 'application/wasm' } }))",
    "new URL('data:application/wasm;base64,' + bytes.toString('base64'))",
  ]
  for (const form of forms) {
    const output = await runModule(`
      import { readFileSync } from 'node:fs'
      import { init, Session, MemoryStorage } from 'peteos-session/slim'
      const bytes = readFileSync(${path})
      await init(${form})
      ${RUN}
      await run()
    `)
    assert.equal(output, '1\n', form)
  }
})

test('the main entry works from another directory, and when it is loaded twice', async () => {
  const output = await runModule(`
    import { createRequire } from 'node:module'
    process.chdir('/')
    const require = createRequire(import.meta.url)
    const { Session, MemoryStorage, countTokens } = require('peteos-session')
    const loadAgain = () => {
      for (const key of Object.keys(require.cache)) delete require.cache[key]
      return require('peteos-session')
    }
    if (loadAgain().Session !== Session) throw new Error('copies of the same code share one instance')
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (symbol.description.startsWith('peteos-session@')) delete globalThis[symbol]
    const second = loadAgain()
    if (second.Session === Session) throw new Error('not loaded twice')
    if (second.countTokens('Hello, world!') !== 4 || countTokens('Hello, world!', 'gpt2') !== 4) throw new Error('counts')
    try { second.Session.create('a', { storage: new MemoryStorage() }).setActiveContext(Session.create('a', { storage: new MemoryStorage() }).activeContext) }
    catch (error) { console.log(error.name) }
  `)
  assert.equal(output, 'InvalidArgumentError\n')
})

test('a bundle of the inline entry works wherever it is moved', async (t) => {
  for (const [format, extension] of [
    ['esm', 'mjs'],
    ['cjs', 'cjs'],
  ]) {
    for (const platform of ['node', 'browser', 'neutral']) {
      const bundle = await bundled(
        `import { init, Session, MemoryStorage } from 'peteos-session/inline'\n${RUN}\nrun()`,
        {
          format,
          platform,
        },
      )
      const file = join(tempDir(t), `moved.${extension}`)
      writeFileSync(file, bundle)
      assert.equal(await run(process.execPath, [file]), '1\n', `${format} for ${platform}`)
    }
  }
})

test('a bundle for browsers resolves to the browser entry, without Node modules', async () => {
  const bundle = await bundled("export * from 'peteos-session'", { format: 'esm', platform: 'browser' })
  assert.doesNotMatch(bundle, /["']node:|require\(/)
  for (const name of MODULES) assert.ok(bundle.includes(`new URL("./${name}", import.meta.url)`), name)
  for (const name of ['p50k_base', 'cl100k_base', 'o200k_base']) {
    assert.match(bundle, new RegExp(`new URL\\(["']\\./encodings/${name}\\.bin["'], import\\.meta\\.url\\)`))
  }
})

test('a bundle leaves out unused exports of the slim entry', async () => {
  const source = "import { MemoryStorage } from 'peteos-session/slim'\nconsole.log(typeof MemoryStorage)"
  const bundle = await bundled(source, { format: 'esm', platform: 'browser', minify: true })
  assert.ok(bundle.length < 1_000_000, 'neither module nor vocabulary is in it')
})

/** The single file that esbuild makes of a module in the folder. */
async function bundled(source, options) {
  const esbuild = await import(pathToFileURL(join(root, 'node_modules', 'esbuild', 'lib', 'main.js')).href)
  const stdin = { contents: source, resolveDir: folder, loader: 'js' }
  const { outputFiles, warnings } = await esbuild.build({
    stdin,
    bundle: true,
    write: false,
    logLevel: 'silent',
    ...options,
  })
  // Ignores the warning about `import.meta` in CommonJS: the inline entry needs it only to fetch a vocabulary.
  assert.deepEqual(
    warnings.map(({ text }) => text).filter((text) => !text.includes('import.meta')),
    [],
  )
  return outputFiles[0].text
}

test('an import prints nothing, gives no warning and keeps no process alive', async () => {
  assert.equal(await runModule("import 'peteos-session'", { args: ['--trace-warnings'], timeoutSeconds: 20 }), '')
  const output = await runModule(`
    process.on('warning', (warning) => console.log(String(warning)))
    await import('peteos-session'); await import('peteos-session/node'); await import('peteos-session/inline')
    const before = JSON.stringify(Object.getOwnPropertyNames(globalThis).sort())
    console.log(Object.getOwnPropertyNames(globalThis).filter((name) => /peteos|wasm_|wbg/i.test(name)).length, before.length > 0)
  `)
  assert.equal(output, '0 true\n')
})

test('the package works in worker threads, each with an instance of its own', async () => {
  const output = await runModule(`
    import { Worker, isMainThread, parentPort } from 'node:worker_threads'
    import { Session, MemoryStorage, countTokens } from 'peteos-session'
    const session = Session.create('a', { storage: new MemoryStorage() })
    session.activeContext.append({ role: 'user' })
    if (isMainThread) {
      const workers = [1, 2].map(() => new Promise((resolve, reject) => new Worker(new URL(import.meta.url)).on('message', resolve).on('error', reject)))
      console.log((await Promise.all(workers)).join(' '), countTokens('Hello, world!'))
    } else parentPort.postMessage(countTokens('Hello, world!') + session.activeContext.messageCount)
  `)
  assert.equal(output, '5 5 4\n')
})

test('the declarations of import and require are the same files', () => {
  const under = (folder) =>
    ofKind(new RegExp(`^dist/types/${folder}/.*\\.d\\.ts$`))
      .map((file) => file.replace(`dist/types/${folder}/`, ''))
      .sort()
  assert.deepEqual(under('esm'), under('cjs'))
  assert.equal(JSON.parse(read('dist/types/esm/package.json')).type, 'module')
  assert.equal(JSON.parse(read('dist/types/cjs/package.json')).type, 'commonjs')
  assert.ok(dirname(manifest.types).endsWith('types/cjs'))
})
