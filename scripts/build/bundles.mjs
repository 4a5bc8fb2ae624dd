// Bundles the TypeScript sources into dist/*.js for the web, and dist/*.mjs and dist/*.cjs for Node.
//
// All entries of a format share their common code as chunks: a program that loads two of them (the main entry and
// ./node, or ./slim in a library) gets one WebAssembly instance and one copy of every class. In Node the two formats share
// as well: see share.mjs.
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { root } from '../setup/steps.mjs'
import { shareBetweenFormats } from './share.mjs'

const dist = join(root, 'dist')
const modules = join(root, 'target', 'bundles')

const WEB_ENTRIES = {
  browser: 'js/entry/browser.ts',
  'browser-storage': 'js/entry/browser-storage.ts',
  'edge-light': 'js/entry/edge-light.ts',
  inline: 'js/entry/inline.ts',
  'react-native': 'js/entry/react-native.ts',
  slim: 'js/entry/slim.ts',
  testing: 'js/entry/testing-browser.ts',
  workerd: 'js/entry/workerd.ts',
}
const NODE_ENTRIES = {
  index: 'js/entry/node/main.ts',
  node: 'js/storage/node.ts',
  'browser-storage': 'js/entry/browser-storage.ts',
  testing: 'js/entry/node/testing.ts',
  inline: 'js/entry/inline.ts',
  slim: 'js/entry/slim.ts',
}
/** The sources that name the files of the package by their paths, one for each format. */
const FILES_MODULE = 'package-files'
const FILES_SOURCES = { '.mjs': 'js/entry/node/files.mts', '.cjs': 'js/entry/node/files.cts' }

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  target: 'es2022',
  sourcemap: 'linked',
  logLevel: 'warning',
}

export async function writeBundles() {
  const esbuild = await import('esbuild')
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const define = { PACKAGE_VERSION: JSON.stringify(version) }
  await bundleModules(esbuild, { define, entryPoints: WEB_ENTRIES, platform: 'browser', outdir: dist })
  const node = { define, entryPoints: NODE_ENTRIES, platform: 'node', outdir: modules }
  const { metafile } = await bundleModules(esbuild, node)
  const outputs = Object.keys(metafile.outputs).filter((path) => path.endsWith('.js'))
  await shareBetweenFormats(
    outputs.map((path) => join(root, path)),
    version,
  )
  await convert(esbuild, outputs, '.mjs', { format: 'esm' })
  await convert(esbuild, outputs, '.cjs', {
    format: 'cjs',
    define: { 'import.meta.url': 'importMetaUrl' },
    inject: ['import-meta-url.js', 'text-coding.js'].map((name) => join(root, 'scripts', 'build', name)),
  })
}

async function bundleModules(esbuild, options) {
  return esbuild.build({
    ...COMMON,
    ...options,
    format: 'esm',
    splitting: true,
    metafile: true,
    // `sideEffects` in package.json is about dist/: it must not drop what a source imports.
    ignoreAnnotations: true,
    plugins: [keepFilesApart, ...(options.platform === 'node' ? [importCodeAtOnce] : [])],
  })
}

/** Leaves the imports of files that dist/ has beside the modules. */
const keepFilesApart = {
  name: 'keep-files-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\.wasm(\?module)?$|^\.\/embedded\// }, ({ path }) => ({ path, external: true }))
    onResolve({ filter: /^\.\/files\.mjs$/ }, () => ({ path: `./${FILES_MODULE}.js`, external: true }))
  },
}

/** In Node nothing is imported late. */
const importCodeAtOnce = {
  name: 'import-code-at-once',
  setup({ onResolve }) {
    const path = join(root, 'js', 'providers', 'import-code-node.ts')
    onResolve({ filter: /\/import-code\.js$/ }, () => ({ path }))
  },
}

/** esbuild splits only ES modules with one extension, so the chunks are built as such and then converted one by one. */
async function convert(esbuild, outputs, extension, options) {
  const files = outputs.map((path) => ({ in: path, out: basename(path, '.js') }))
  const { outputFiles } = await esbuild.build({
    ...COMMON,
    ...options,
    entryPoints: [...files, { in: FILES_SOURCES[extension], out: FILES_MODULE }],
    platform: 'node',
    outdir: dist,
    outExtension: { '.js': extension },
    write: false,
    plugins: [keepChunksApart(extension)],
  })
  for (const { path, text } of outputFiles) await writeFile(path, extension === '.cjs' ? askNode(text) : text)
}

function keepChunksApart(extension) {
  return {
    name: 'keep-chunks-apart',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\/embedded\// }, ({ path }) => ({ path, external: true }))
      onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, resolveDir }) =>
        resolveDir === modules ? { path: path.replace(/\.js$/, extension), external: true } : undefined,
      )
    },
  }
}

/** In a bundle that is an ES module there is no `require`, but the modules of Node can be asked for. */
function askNode(text) {
  return text.replaceAll(/\brequire\(("node:[^"]+")\)/g, '(process.getBuiltinModule?.($1) ?? require($1))')
}
