// Generated sessions on both sides: everything that is done with them has to come out the same.
//
// `PETEOS_SEED=7` compares the session of that seed alone, `PETEOS_RUNS=5000` more of them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { generate } from './generate.mjs'
import { Oracle, available, needsReference } from './oracle.mjs'
import { compare, describe, madeAbsolute, shrink } from './support/compare.mjs'
import { GOLDEN, condensed, finalDumps } from './support/golden.mjs'

const SESSIONS = 400
/** So many sessions and answers are compared at least; a comparison that compares nothing is no proof. */
const LEAST = { sessions: 300, operations: 10_000 }
const AT_ONCE = 3
const MOST_FAILURES = 3

const only = process.env.PETEOS_SEED
const first = Number(only ?? 1)
const last = only ? first : Number(process.env.PETEOS_RUNS ?? SESSIONS)

const oracle = available && new Oracle()
after(() => oracle?.close())

test('generated sessions come out the same on both sides', needsReference, async () => {
  const failures = []
  const compared = { sessions: 0, operations: 0 }
  let next = first
  const work = async () => {
    while (next <= last && failures.length < MOST_FAILURES) {
      const program = generate(next++)
      const result = await compare(oracle, program)
      compared.sessions += 1
      compared.operations += result.compared
      if (result.difference) failures.push({ program, ...result })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))

  const cases = []
  for (const { program, steps } of failures.slice(0, MOST_FAILURES)) {
    const smallest = await shrink(oracle, madeAbsolute(program, steps), { seconds: 30 / MOST_FAILURES })
    cases.push(`${describe(smallest, await compare(oracle, smallest))}\nRepeat it with PETEOS_SEED=${program.seed}.`)
  }
  cases.sort((one, other) => one.length - other.length)
  const total = `${compared.sessions} sessions and ${compared.operations} operations compared with the reference`
  if (failures.length > 0) assert.fail([`${total}; ${failures.length} sessions differ`, ...cases].join('\n\n'))
  console.log(`${total}: none differs`)
  if (!only && last >= SESSIONS) {
    assert.ok(compared.sessions >= LEAST.sessions && compared.operations >= LEAST.operations, total)
  }
})

test('the golden files are what the reference answers', needsReference, async () => {
  const golden = (name) => JSON.parse(readFileSync(new URL(name, GOLDEN), 'utf8'))
  const hint = 'node tests/reference/make-golden.mjs makes them anew'
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
