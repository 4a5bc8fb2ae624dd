// The suites of `npm test`, the longest first, because they run in parallel. Each has
// - `title`: what it tests;
// - `needs`: the set-up steps before it;
// - `start()`: how to start it, { program, args, env? };
// - `count(output, succeeded)`: the number of tests in its output;
// - `notice()`: optionally, a remark for the summary.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { build } from '../build.mjs'
import { chromium, webdriverCapabilities } from '../setup/chromium.mjs'
import { toolScript } from '../setup/npm.mjs'
import { reference, whyNoReference } from '../setup/reference.mjs'
import { rust } from '../setup/rust.mjs'
import { root, SetupError } from '../setup/steps.mjs'
import { wasmBindgen } from '../setup/wasm-bindgen.mjs'
import { countCargo, countNode, countOne } from './counts.mjs'

export const suites = [
  {
    name: 'native',
    title: 'the Rust core on this machine',
    needs: [rust],
    start: async () => (await rust()).invocation(['test', '--no-fail-fast']),
    count: countCargo,
  },
  {
    name: 'package',
    title: 'the packed package, as users import it',
    needs: [build],
    start: () => startNodeTests('tests/package'),
    count: countNode,
  },
  {
    name: 'reference',
    title: 'interoperability with the Python package',
    needs: [build, reference],
    start: () => startNodeTests('tests/reference'),
    count: countNode,
    notice: async () => ((await reference()) === null ? await whyNoReference() : null),
  },
  {
    name: 'crash',
    title: 'sessions after crashes, failing calls and damage',
    needs: [build],
    start: () => startNodeTests('tests/crash'),
    count: countNode,
  },
  {
    name: 'browser',
    title: 'the package in headless Chromium',
    needs: [build, chromium],
    start: async () => {
      const { chrome, chromedriver } = await chromium()
      return startNodeTests('tests/browser', { CHROME_PATH: chrome, CHROMEDRIVER: chromedriver })
    },
    count: countNode,
  },
  {
    name: 'wasm-browser',
    title: 'the WebAssembly boundary in headless Chromium',
    needs: [rust, wasmBindgen, chromium],
    start: async () => startWasmTests(await inBrowser()),
    count: countCargo,
  },
  {
    name: 'wasm-node',
    title: 'the WebAssembly boundary in Node',
    needs: [rust, wasmBindgen],
    start: () => startWasmTests({ WASM_BINDGEN_TEST_ONLY_NODE: '1' }),
    count: countCargo,
  },
  {
    name: 'setup',
    title: 'the set-up on machines that lack something',
    needs: [],
    start: () => startNodeTests('tests/setup'),
    count: countNode,
  },
  {
    name: 'types',
    title: 'the types of the TypeScript sources',
    needs: [build],
    start: () => ({ program: process.execPath, args: [toolScript('typescript', 'tsc'), '-p', 'tsconfig.json'] }),
    count: countOne,
  },
]

/** Runs the tests of all binaries. Documentation tests belong to the native suite. */
async function startWasmTests(variables) {
  const { invocation } = await rust()
  const { testRunner } = await wasmBindgen()
  const env = {
    // Found by name on the PATH, because Cargo splits the runner's path at spaces.
    PATH: [dirname(testRunner), process.env.PATH].join(delimiter),
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: 'wasm-bindgen-test-runner',
    // With debug information the runner takes five times longer to read the module; panics name their line without it.
    CARGO_PROFILE_DEV_DEBUG: '0',
    ...variables,
  }
  return invocation(['test', '--package', 'peteos-session', '--test', 'wasm', '--no-fail-fast'], { wasm: true, env })
}

/** Makes wasm-bindgen-test-runner run tests in the browser unless they say otherwise. */
async function inBrowser() {
  const { chrome, chromedriver } = await chromium()
  const options = { ...webdriverCapabilities['goog:chromeOptions'], binary: chrome }
  const capabilities = join(root, 'target', 'webdriver.json')
  await mkdir(dirname(capabilities), { recursive: true })
  await writeFile(capabilities, JSON.stringify({ ...webdriverCapabilities, 'goog:chromeOptions': options }))
  return {
    CHROMEDRIVER: chromedriver,
    WASM_BINDGEN_USE_BROWSER: '1',
    WASM_BINDGEN_TEST_ONLY_WEB: '1',
    WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities,
    // In seconds; the defaults (5 and 20) are short for a busy machine.
    WASM_BINDGEN_TEST_DRIVER_TIMEOUT: '60',
    WASM_BINDGEN_TEST_TIMEOUT: '180',
  }
}

async function startNodeTests(folder, variables = {}) {
  const entries = await readdir(join(root, folder), { recursive: true }).catch(() => [])
  const names = entries.filter((name) => name.endsWith('.test.mjs'))
  if (names.length === 0) throw new SetupError(`There are no tests to run: ${folder}/ holds no *.test.mjs file.`)
  return {
    program: process.execPath,
    args: ['--test', '--test-reporter=spec', ...names.sort().map((name) => join(folder, name))],
    env: { ...process.env, ...variables },
  }
}
