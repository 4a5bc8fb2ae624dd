// Set-up on machines that lack something, simulated by a PATH of small scripts.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hintFor } from '../../scripts/setup/hints.mjs'
import { root } from '../../scripts/setup/steps.mjs'

const RUST = 'rust.mjs'

/** A machine whose PATH has only these programs, each given as the body of a shell script that logs its call. */
function machine(t, programs) {
  const home = mkdtempSync(join(tmpdir(), 'peteos-session-set-up-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  for (const [name, body] of Object.entries(programs)) {
    const file = join(bin, name)
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> "$HOME/calls"\n${body}\n`)
    chmodSync(file, 0o755)
  }
  return {
    home,
    calls: () => readFileSync(join(home, 'calls'), 'utf8').trim().split('\n'),
    /** The value of `expression` for a module of the set-up, or the message of its SetupError. */
    evaluate(module, expression, variables = {}) {
      const code = `
        const module = await import('./scripts/setup/${module}')
        try {
          console.log(JSON.stringify({ value: await (${expression})(module) }))
        } catch (error) {
          if (error.name !== 'SetupError') throw error
          console.log(JSON.stringify({ error: error.message }))
        }`
      const env = { PATH: bin, HOME: home, ...variables }
      const options = { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
      return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code], options))
    },
  }
}

const CC = { cc: 'exit 0' }
const version = (number) => `echo "tool ${number} (0123456 2026-01-01)"`
/** A compiler of this version that has the target. */
const compiler = (number) => `if [ "$1" = --print ]; then echo "$HOME"; else ${version(number)}; fi`
/** rustup's shim: it fails unless an installed toolchain is named. */
const shim = (body) => `
  if [ -z "$RUSTUP_TOOLCHAIN" ] || [ ! -e "$HOME/$RUSTUP_TOOLCHAIN" ]; then
    echo "error: no default toolchain is configured" >&2
    exit 1
  fi
  ${body}`
const RUSTUP = `
  case "$1 $2" in
    "toolchain list") if [ -e "$HOME/nightly-x" ]; then echo "nightly-x"; else echo "no installed toolchains"; fi ;;
    "toolchain install") : > "$HOME/$3" ;;
  esac`

const invocations = `async ({ rust }) => {
  const { cargo, invocation } = await rust()
  await cargo(['metadata'])
  const both = [await invocation(['test']), await invocation(['build'], { wasm: true })]
  return both.map(({ program, args, env }) => ({ program, args, toolchain: env.RUSTUP_TOOLCHAIN }))
}`

test('a Rust on the PATH is used unchanged', (t) => {
  const { evaluate } = machine(t, { ...CC, cargo: version('1.90.0'), rustc: compiler('1.90.0') })
  assert.deepEqual(evaluate(RUST, invocations).value, [
    { program: 'cargo', args: ['test'] },
    { program: 'cargo', args: ['build', '--target', 'wasm32-unknown-unknown'] },
  ])
})

test('a toolchain is installed if rustup has none, and every call names it', (t) => {
  const shims = { cargo: shim(version('1.95.0')), rustc: shim(compiler('1.95.0')) }
  const { calls, evaluate } = machine(t, { ...CC, ...shims, rustup: RUSTUP })
  const { value } = evaluate(RUST, invocations)
  assert.deepEqual(
    value.map(({ toolchain }) => toolchain),
    ['stable', 'stable'],
  )
  assert.equal(calls().filter((call) => call.startsWith('rustup toolchain install stable')).length, 1)
  assert.ok(calls().includes('cargo metadata'))
})

test('a toolchain of rustup that is not the default is used, and none is installed', (t) => {
  const shims = { cargo: shim(version('1.95.0')), rustc: shim(compiler('1.95.0')) }
  const { calls, evaluate, home } = machine(t, { ...CC, ...shims, rustup: RUSTUP })
  writeFileSync(join(home, 'nightly-x'), '')
  assert.deepEqual(
    evaluate(RUST, invocations).value.map(({ toolchain }) => toolchain),
    ['nightly-x', 'nightly-x'],
  )
  assert.ok(!calls().some((call) => call.includes('install')))
})

test('a missing target is added to the toolchain in use', (t) => {
  const rustc = `if [ "$1" = --print ]; then echo "$HOME/absent"; else ${version('1.95.0')}; fi`
  const { calls, evaluate } = machine(t, { ...CC, cargo: version('1.95.0'), rustc, rustup: RUSTUP })
  assert.ok('value' in evaluate(RUST, invocations))
  assert.ok(calls().includes('rustup target add wasm32-unknown-unknown'))
})

test('without Rust and without root, one sentence says what to run', (t) => {
  const { evaluate } = machine(t, CC)
  const { error } = evaluate(RUST, invocations)
  assert.equal(error, `Rust 1.86 or newer is needed, but Rust was not found. ${hintFor('rust')}`)
  assert.match(error, /https:\/\/rustup\.rs/)
})

test('a Rust that is too old is named with its version', (t) => {
  const { evaluate } = machine(t, { ...CC, cargo: version('1.63.0'), rustc: compiler('1.63.0') })
  assert.match(evaluate(RUST, invocations).error, /^Rust 1\.86 or newer is needed, but Rust is version 1\.63\.0\. /)
})

test('a rustup that cannot install a toolchain says that it needs a network', (t) => {
  const rustup = 'if [ "$2" = install ]; then exit 1; fi'
  const { evaluate } = machine(t, { ...CC, cargo: 'exit 1', rustc: 'exit 1', rustup })
  assert.match(evaluate(RUST, invocations).error, /needs a network/)
})

test('without a C compiler the message names it, and nothing is compiled', (t) => {
  const { evaluate } = machine(t, { cargo: version('1.90.0'), rustc: compiler('1.90.0') })
  const { error } = evaluate(RUST, invocations)
  assert.equal(error, `Rust needs a C compiler to link programs, and \`cc\` was not found. ${hintFor('compiler')}`)
})

test('PETEOS_SESSION_RUST accepts one of two values', (t) => {
  const { evaluate } = machine(t, CC)
  const { error } = evaluate(RUST, invocations, { PETEOS_SESSION_RUST: 'nix' })
  assert.equal(error, 'PETEOS_SESSION_RUST is "nix": use "rustup" or "debian".')
})

test("the linker of Debian's Rust is checked, and a broken link names the package to reinstall", (t) => {
  const { evaluate, home } = machine(t, {})
  const linker = join(home, 'rust-lld')
  symlinkSync('lld-22', linker)
  const ensure = `({ ensureLinker }) => ensureLinker('${linker}')`
  assert.match(evaluate('rust-debian.mjs', ensure).error, /apt-get install lld-22$/)
  writeFileSync(join(home, 'lld-22'), '')
  chmodSync(join(home, 'lld-22'), 0o755)
  assert.ok(!('error' in evaluate('rust-debian.mjs', ensure)))
})

test('under yarn and pnpm the packages are still installed by npm', (t) => {
  const { evaluate } = machine(t, {})
  for (const script of ['/usr/lib/node_modules/yarn/bin/yarn.js', '/usr/lib/node_modules/pnpm/bin/pnpm.cjs']) {
    const { value } = evaluate('npm.mjs', '({ npmCommand }) => npmCommand()', { npm_execpath: script })
    assert.match(value.join(' '), /^npm$|npm-cli\.js$/)
  }
})

test('without Python the comparison is skipped, and the reason is reported', (t) => {
  const { evaluate } = machine(t, {})
  const find = 'async ({ findPython }) => findPython()'
  assert.equal(evaluate('reference.mjs', find).error, `Python 3 was not found. ${hintFor('python')}`)
})

test('the hints name what to install on each platform', () => {
  const expected = {
    rust: { darwin: /rustup/, win32: /rustup-init\.exe/, debian: /apt-get install .*lld-22/, freebsd: /rustup/ },
    compiler: {
      darwin: /xcode-select --install/,
      win32: /Build Tools/,
      debian: /gcc libc6-dev/,
      freebsd: /gcc or clang/,
    },
    chromium: { darwin: /brew/, win32: /chromedriver/, debian: /chromium-driver/, freebsd: /Chromium/ },
    python: { darwin: /brew/, win32: /winget/, debian: /python3-venv/, freebsd: /Python 3/ },
  }
  for (const [tool, platforms] of Object.entries(expected)) {
    for (const [platform, text] of Object.entries(platforms)) assert.match(hintFor(tool, platform), text)
  }
})
