// Compares the package with the committed answers of the reference, without Python. differential.test.mjs compares it with the
// reference itself, and checks that these answers are up to date.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { differingLines } from './support/compare.mjs'
import { condensed, finalDumps, GOLDEN } from './support/golden.mjs'
import { World } from './support/ours.mjs'
import { ENCODINGS, MemoryStorage, Session } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const golden = (name) => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8'))

test('sessions have the same results as in the reference', async () => {
  const sessions = golden('sessions.json')
  for (const { seed, start, steps, answers, final } of sessions) {
    const world = await World.open(start)
    const ours = []
    for (const step of steps) ours.push((await world.step(step)).outcome)
    const wrong = ours.findIndex(
      (outcome, index) => JSON.stringify(condensed(outcome, start)) !== JSON.stringify(answers[index]),
    )
    if (wrong >= 0) {
      const lines = [
        `golden session ${seed}, step ${wrong + 1} (- the reference, + the package): ${JSON.stringify(steps[wrong])}`,
        ...differingLines(answers[wrong], condensed(ours[wrong], start)),
        'The contexts at the end:',
        ...differingLines(final, finalDumps(ours)),
      ]
      assert.fail(lines.join('\n'))
    }
  }
  assert.ok(sessions.length >= 20)
})

test('values are counted as in the reference', async () => {
  const { encodings, values } = golden('texts.json')
  assert.deepEqual(encodings, ENCODINGS)
  const prelude = values.map(([value]) => ({
    do: 'append',
    anchor: 'messages',
    message: `{"role":"user","content":[{"type":"data","value":${value}}]}`,
  }))
  const storage = new MemoryStorage()
  const write = (name, text) => storage.write(`parent/texts/${name}.json`, new TextEncoder().encode(text))
  await write('session', sessionFile('texts', 'context'))
  await write('context', contextFile('context', { system: null, tools: null, prelude }))
  const { activeContext } = await Session.load('parent', 'texts', { storage })
  const counts = encodings.map((encoding) => activeContext.tokenCounts(encoding))
  for (const [index, [value, text, ...expected]] of values.entries()) {
    assert.deepEqual(
      counts.map((tokens) => tokens[index]),
      expected,
      `${value}, in Python ${text}`,
    )
  }
})

test('a file has the same bytes as from the reference after the same append', async () => {
  const { uuid, before, added, after } = golden('bytes.json')
  const storage = new MemoryStorage()
  for (const [name, text] of Object.entries(before))
    await storage.write(`parent/${uuid}/${name}`, new TextEncoder().encode(text))
  const session = await Session.load('parent', uuid, { storage })
  session.activeContext.append(added)
  session.state.create('é', '😀')
  await session.save()
  for (const [name, text] of Object.entries(after)) {
    assert.equal(new TextDecoder().decode(await storage.read(`parent/${uuid}/${name}`)), text, name)
  }
})
