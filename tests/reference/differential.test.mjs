// Generated sessions on both sides: every operation must have the same result.
//
// `PETEOS_SEED=7` compares other sessions, `PETEOS_RUNS=5000` more.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { forAll, isUsual, SEED } from '../package/support/property.mjs'
import { available, needsReference, Oracle } from './oracle.mjs'
import { programs } from './programs.mjs'
import { compare, describe } from './support/compare.mjs'
import { condensed, finalDumps, GOLDEN } from './support/golden.mjs'

const SESSIONS = 400
/** The least number of comparisons, so that the test cannot pass without comparing. */
const LEAST = { sessions: 300, operations: 10_000 }

const oracle = available && new Oracle()
after(() => oracle?.close())

test('generated sessions have the same results on both sides', needsReference, async (t) => {
  const compared = { sessions: 0, operations: 0 }
  await forAll(SESSIONS, programs, async (program) => {
    const result = await compare(oracle, program)
    compared.sessions += 1
    compared.operations += result.compared
    if (result.difference) assert.fail(describe(program, result))
  })
  const total = `${compared.sessions} sessions and ${compared.operations} operations`
  t.diagnostic(`seed ${SEED}: ${total} compared with the reference, none differs`)
  assert.ok(!isUsual || (compared.sessions >= LEAST.sessions && compared.operations >= LEAST.operations), total)
})

test('the golden files match the answers of the reference', needsReference, async () => {
  const golden = (name) => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8'))
  const hint = 'node tests/reference/make-golden.mjs writes them again'
  for (const { seed, start, steps, answers, final } of golden('sessions.json')) {
    const theirs = await oracle.run(start, steps)
    assert.deepEqual(
      theirs.map((answer) => condensed(answer, start)),
      answers,
      `golden session ${seed}: ${hint}`,
    )
    assert.deepEqual(finalDumps(theirs), final, `golden session ${seed}: ${hint}`)
  }
  const { encodings, values } = golden('texts.json')
  const contents = values.map(([value]) => `[{"type":"data","value":${value}}]`)
  const { texts, counts } = await oracle.ask({ do: 'texts', values: contents, encodings, before: 'user: ' })
  assert.deepEqual(
    contents.map((_, index) => [values[index][0], texts[index], ...counts[index]]),
    values,
    hint,
  )
})
