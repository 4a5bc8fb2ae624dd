// Bundles the TypeScript sources into dist/*.js, *.cjs and *.mjs.
//
// All entries of a format share their common code as chunks: a program that loads two of them (the main entry and
// ./node, or ./slim in a library) gets one WebAssembly instance and one copy of every class. In Node all entries are
// CommonJS, with an ES module beside each that re-exports it, so that `import` and `require` share as well.
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { root } from '../setup/steps.mjs'

const dist = join(root, 'dist')
const modules = join(root, 'target', 'bundles')

const WEB_ENTRIES = {
  browser: 'js/entry/browser.ts',
  'browser-storage': 'js/entry/browser-storage.ts',
  testing: 'js/entry/testing-browser.ts',
  inline: 'js/entry/inline.ts',
  slim: 'js/entry/slim.ts',
}
const NODE_ENTRIES = {
  index: 'js/entry/node.ts',
  node: 'js/storage/node.ts',
  'browser-storage': 'js/entry/browser-storage.ts',
  testing: 'js/entry/testing-node.ts',
  inline: 'js/entry/inline.ts',
  slim: 'js/entry/slim.ts',
}

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  target: 'es2022',
  sourcemap: 'linked',
  logLevel: 'warning',
}

export async function writeBundles() {
  const esbuild = await import('esbuild')
  await bundleModules(esbuild, { entryPoints: WEB_ENTRIES, platform: 'browser', outdir: dist })
  const { metafile } = await bundleModules(esbuild, { entryPoints: NODE_ENTRIES, platform: 'node', outdir: modules })
  await convertToCommonJs(esbuild, Object.keys(metafile.outputs))
  await writeReexports(metafile.outputs)
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
    loader: { '.wasm': 'base64' },
    plugins: [inlineWasm],
  })
}

// `virtual:wasm-base64/<name>`: its default export is a WebAssembly module as text.
const inlineWasm = {
  name: 'inline-wasm',
  setup({ onResolve }) {
    const prefix = 'virtual:wasm-base64/'
    onResolve({ filter: /^virtual:wasm-base64\// }, ({ path }) => ({
      path: join(root, 'pkg', `${path.slice(prefix.length)}_bg.wasm`),
    }))
  },
}

/** esbuild splits only ES modules, so the chunks are built as such and then converted one by one. */
async function convertToCommonJs(esbuild, outputs) {
  await esbuild.build({
    ...COMMON,
    entryPoints: outputs.filter((path) => path.endsWith('.js')),
    platform: 'node',
    format: 'cjs',
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    define: { 'import.meta.url': 'importMetaUrl' },
    inject: [join(root, 'scripts', 'build', 'import-meta-url.js')],
    plugins: [keepChunksApart],
  })
}

const keepChunksApart = {
  name: 'keep-chunks-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, resolveDir }) =>
      resolveDir === modules ? { path: path.replace(/\.js$/, '.cjs'), external: true } : undefined,
    )
  },
}

async function writeReexports(outputs) {
  for (const name of Object.keys(NODE_ENTRIES)) {
    const names = outputs[`${relative(root, modules).replaceAll('\\', '/')}/${name}.js`].exports
    await writeFile(join(dist, `${name}.mjs`), `export { ${names.join(', ')} } from './${name}.cjs'\n`)
  }
}
