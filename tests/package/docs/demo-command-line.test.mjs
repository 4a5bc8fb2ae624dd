// The command line of `npm run demo`.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findSessionDir, parseOptions } from '../../../scripts/demo/options.mjs'
import { complaints, demo, examples } from '../support/demo.mjs'
import { tempDir } from '../support/files.mjs'
import { root } from '../support/installed.mjs'

test('invalid options are named', (t) => {
  const empty = tempDir(t)
  const nested = tempDir(t)
  mkdirSync(join(nested, 'inside'))
  writeFileSync(join(nested, 'inside', 'session.json'), '{}')
  const cases = [
    [['--count', '-1'], /--count/],
    [['--count=-1'], /--count: expected a non-negative integer, found '-1'/],
    [['--count', '1.5'], /--count/],
    [['--count', 'many'], /'many'/],
    [['--count', ''], /--count/],
    [['--count', '99999999999999999999'], /--count/],
    [['--max-tokens', '1e3'], /--max-tokens/],
    [['--max-tokens'], /--max-tokens/],
    [['--frobnicate'], /--frobnicate/],
    [['one', 'two'], /one session directory/],
    [[join(empty, 'nowhere')], /nowhere is not a session directory/],
    [[join(root, 'package.json')], /package\.json is not a session directory/],
    [[empty], /has no session\.json/],
    [[nested], /did you mean \S+inside\?/],
  ]
  for (const [args, message] of cases) {
    const parse = () => findSessionDir(parseOptions(args).sessionDir, examples)
    assert.throws(parse, (error) => error.name === 'UsageError' && message.test(error.message), String(args))
  }
})

test('an invalid command line prints one line and exits with code 2', async (t) => {
  const cases = [
    [['--count', 'many'], /--count: expected/],
    [['--count', '0'], /window of 0 messages is too small/],
    [['--max-tokens', '10'], /window of 10 tokens is too small/],
    [['--encoding', 'latin1'], /'latin1'.*o200k_base/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr, temp } = await demo(t, args)
    assert.equal(code, 2, `${args}: ${stderr}`)
    assert.equal(stdout, '')
    const lines = complaints(stderr)
    assert.equal(lines.length, 1, stderr)
    assert.match(lines[0], message)
    assert.deepEqual(readdirSync(temp), [])
  }
})

test('--help lists the options', async (t) => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout, stderr } = await demo(t, [flag])
    assert.equal(code, 0)
    assert.equal(stderr, '')
    const words = ['session directory', '--count', '--max-tokens', '--encoding', '--all', '--keep']
    for (const word of words) assert.ok(stdout.includes(word), word)
  }
})
