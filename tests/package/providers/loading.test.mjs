// The module of the providers: when it is loaded, from where, and what happens if it cannot be.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { runModule, tempDir } from '../support/files.mjs'
import { load, packageDir } from '../support/installed.mjs'

const file = (name) => JSON.stringify(join(packageDir, 'dist', name))
const MODULE = file('peteos_session_bg.wasm')
const PROVIDERS = file('peteos_session_providers_bg.wasm')

/** What a script prints that has the bytes of both modules, the slim entry, and a context without messages. */
function withSlim(script, start) {
  return runModule(`
    import { readFileSync } from 'node:fs'
    import { check, Context, fromMessages, init, loadProviders, toMessages } from 'peteos-session/slim'
    const [module, providers] = [readFileSync(${MODULE}), readFileSync(${PROVIDERS})]
    const failure = async (work) => {
      try {
        await work()
        return 'none'
      } catch (error) {
        return error.name + ' ' + (error.argument ?? error.code) + ': ' + error.message
      }
    }
    ${start ?? 'await init({ module, providers: false })'}
    const context = Context.create()
    ${script}
  `)
}

test('the slim entry takes both modules from the caller', async () => {
  for (const start of [
    'await init({ module, providers })',
    'await Promise.all([init(module), loadProviders(providers)])',
    'await init(module); await init({ providers })',
    'await init(module); await loadProviders(providers); await loadProviders(); await init({ providers: new Uint8Array() })',
  ]) {
    const output = await withSlim("console.log(check(context, 'anthropic')[0].rule)", start)
    assert.equal(output, 'no-messages\n', start)
  }
})

test('without the module, a function of the providers says what to do', async () => {
  for (const call of ["check(context, 'gemini')", "toMessages(context, 'gemini')", "fromMessages([], 'gemini')"]) {
    assert.equal(
      await withSlim(`console.log(await failure(() => ${call}))`),
      'NotInitializedError ERR_NOT_INITIALIZED: the module of the providers is not loaded; ' +
        'call `await loadProviders()` first\n',
    )
  }
})

test('arguments are checked first', async () => {
  const output = await withSlim(`
    console.log(await failure(() => check({}, 'gemini')))
    console.log(await failure(() => check(context, 5)))
    console.log(await failure(() => toMessages(context, 'gemini', { repair: 1 })))
    console.log(await failure(() => fromMessages(Symbol(), 'gemini')))
  `)
  assert.deepEqual(
    output.split('\n').map((line) => line.split(':')[0]),
    [
      'InvalidArgumentError context',
      'InvalidArgumentError provider',
      'InvalidArgumentError options.repair',
      'InvalidArgumentError value',
      '',
    ],
  )
})

test('a source that fails is an error with its cause, and can be replaced', async () => {
  const output = await withSlim(`
    const failed = []
    for (const bad of [new Uint8Array([1, 2, 3]), 'http://127.0.0.1:1/x.wasm']) {
      failed.push(await failure(() => loadProviders(bad)), await failure(() => init({ providers: bad })))
    }
    failed.push(await failure(() => loadProviders()))
    if (!failed.every((text) => text.startsWith('NotInitializedError'))) throw new Error(failed.join('\\n'))
    console.log(await failure(() => check(context, 'gemini')))
    await loadProviders(providers)
    console.log(check(context, 'gemini')[0].rule)
  `)
  assert.match(
    output,
    /^NotInitializedError [^\n]*could not be loaded \([^\n]*\); call `await loadProviders\(\)` first\n/,
  )
  assert.match(output, /\nno-messages\n$/)
})

test('an option of init() that does not exist is refused', async () => {
  const output = await withSlim("console.log(await failure(() => init({ provider: 'x' })))")
  assert.match(output, /^InvalidArgumentError options\.provider: options\.provider: is not an option of init; /)
})

for (const entry of ['peteos-session', 'peteos-session/inline']) {
  test(`${entry} loads the module at its first use`, async () => {
    const output = await runModule(`
      const real = WebAssembly.Module
      let compiled = 0
      WebAssembly.Module = class extends real { constructor(bytes) { super(bytes); compiled++ } }
      const { check, Context, init, loadProviders } = await import('${entry}')
      await init()
      const counts = [compiled]
      check(Context.create(), 'anthropic')
      counts.push(compiled)
      check(Context.create(), 'gemini')
      await loadProviders()
      await init({ providers: 'ignored now' })
      counts.push(compiled)
      console.log(counts.join())
    `)
    assert.equal(output, '1,2,2\n')
  })
}

test('a package without the file of the module works up to its first use', async (t) => {
  const dist = join(tempDir(t), 'dist')
  cpSync(join(packageDir, 'dist'), dist, { recursive: true })
  rmSync(join(dist, 'peteos_session_providers_bg.wasm'))
  const output = await runModule(`
    import { check, Context } from ${JSON.stringify(pathToFileURL(join(dist, 'index.mjs')).href)}
    const context = Context.create()
    // There, no other copy of the package is installed.
    process.chdir('/')
    try { check(context, 'gemini') } catch ({ name, cause }) { console.log(name, cause.code) }
  `)
  assert.equal(output, 'NotInitializedError ENOENT\n')
})

test('all entries use one instance of the module', async () => {
  const { Context } = await load('peteos-session')
  await (await load('peteos-session/slim')).loadProviders(readFileSync(JSON.parse(PROVIDERS)))
  for (const entry of ['peteos-session', 'peteos-session/slim', 'peteos-session/inline']) {
    const { check } = await load(entry)
    assert.equal(check(Context.create(), 'anthropic')[0].rule, 'no-messages', entry)
  }
})
