// The agent loop of examples/agent-loop, copied beside an installed package as a user would.
import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../support/files.mjs'
import { folder, root } from '../support/installed.mjs'

const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']

/** Runs it; resolves to its output. */
async function runExample(t, ...args) {
  const copy = join(folder, `agent-loop-${process.pid}`)
  cpSync(join(root, 'examples', 'agent-loop'), copy, { recursive: true })
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  return run(process.execPath, [join(copy, 'run.mjs'), ...args], { timeoutSeconds: 240 })
}

/** The rows of the table in its output. */
function rowsOf(output) {
  const rows = output.split('\n').filter((line) => /^│ +\d/.test(line))
  return rows.map((line) => {
    const [, , provider, boundary, turns, requests, refusals, windows, tokens] = line
      .split('│')
      .map((cell) => cell.trim())
    return {
      provider,
      boundary,
      ...Object.fromEntries(
        Object.entries({ turns, requests, refusals, windows, tokens }).map(([key, value]) => [key, Number(value)]),
      ),
    }
  })
}

test('the agent runs 200 turns under a small budget without a refusal, for each provider', async (t) => {
  const rows = rowsOf(await runExample(t))
  const expected = PROVIDERS.flatMap((provider) =>
    ['exchange', 'turn'].map((boundary) => [`'${provider}'`, `'${boundary}'`]),
  )
  assert.deepEqual(
    rows.map(({ provider, boundary }) => [provider, boundary]),
    expected,
  )
  for (const row of rows) {
    assert.deepEqual([row.turns, row.refusals], [200, 0], JSON.stringify(row))
    assert.ok(row.requests > 600 && row.windows > 100 && row.tokens <= 1500, JSON.stringify(row))
  }
})

test("the stand-in refuses windows with the boundary 'message'", async (t) => {
  const error = await runExample(t, '--boundary', 'message').then(
    () => assert.fail('it was not refused'),
    (error) => error.message,
  )
  for (const provider of PROVIDERS)
    assert.match(error, new RegExp(`^${provider}, message: 400 .*(call|output|first message)`, 'm'))
})
