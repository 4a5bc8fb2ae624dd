// The same files in both directions: what one side saves, the other loads, continues and saves. The reference runs unpatched
// here, with its own JSON reader.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fc, forAll, isUsual, list, sometimes } from '../package/support/property.mjs'
import { available, needsReference, Oracle } from './oracle.mjs'
import { handedIn, messages, specials } from './programs.mjs'
import { compareSteps, describeSteps } from './support/compare.mjs'
import { parseText, prettyLines } from './support/json-text.mjs'
import { World } from './support/ours.mjs'
import { ENCODINGS, Session } from './support/package.mjs'

const SESSIONS = 8
const TURNS = 5

/**
 * The findings of a check in generated sessions: calls without results, messages before the special ones, and a context whose
 * origin was never saved, because the reference saves the active context only.
 */
const EXPECTED_FINDINGS = new Set([
  'call-without-result',
  'result-without-call',
  'misplaced-special-message',
  'dangling-origin',
])

const asItIs = available && new Oracle({ asIs: true })
/** How the reference reads files, with its counting repaired. */
const repaired = available && new Oracle()
after(() => Promise.all([asItIs?.close(), repaired?.close()]))

function tempDir(t) {
  const path = mkdtempSync(join(tmpdir(), 'peteos-session-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function filesOf(directory) {
  const names = readdirSync(directory).sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]))
}

/** The two sides behind the same interface; their state is dumped with the original ids. */
const sides = {
  async reference(start) {
    const world = await asItIs.open({ ...start, plain: true })
    return {
      step: (step) => world.step(step),
      ids: () => world.step({ do: 'ids' }),
      dumps: async () => (await world.step({ do: 'dumps' })).dumps,
      close: world.close,
    }
  },
  async package(start) {
    const world = await World.open({ ...start, plain: true })
    return {
      step: async (step) => (await world.step(step)).outcome.result,
      ids: async () => world.ids(),
      dumps: () => world.dumps(),
      close: async () => {},
    }
  },
}

/** A dump without what the reference loses on saving. */
function kept(dump) {
  const fields = parseText(dump)
  fields.delete('"(anchor sequences)"')
  return prettyLines(fields).join('\n')
}

const whole = (min, max) => fc.integer({ min, max })
/** Messages without the names of special tokens, for which the unpatched reference raises an error. */
const plainMessages = messages.filter((message) => !message.includes('<|'))

/** The operations of one turn. */
const turns = fc
  .record({
    anchor: sometimes(
      0.6,
      fc.record({
        do: fc.constant('addAnchor'),
        name: fc.constantFrom('notes', 'pinned', 'é'),
        index: whole(0, 3),
        after: fc.boolean(),
      }),
    ),
    appends: list(
      1,
      4,
      fc.record({
        do: fc.constant('append'),
        on: fc.constant(0),
        message: plainMessages,
        anchor: fc.constantFrom('messages', 'messages', 'tools', 'notes'),
      }),
    ),
    cut: fc.oneof(
      whole(2, 6).map((count) => [{ do: 'sessionSequenceWindow', count }]),
      whole(100, 600).map((budget) => [{ do: 'sessionTokenWindow', budget, encoding: 'cl100k_base' }]),
      whole(-9, 3).map((start) => [
        { do: 'fork', on: 0, start },
        { do: 'activate', on: 1 },
      ]),
      fc.constant([]),
    ),
    again: sometimes(0.4, fc.constant([{ do: 'save' }, { do: 'sessionSequenceWindow', count: 3 }])),
    variable: fc.constantFrom('2', '1', 'é', '__proto__', 'plan'),
    isActive: fc.boolean(),
  })
  .map(({ anchor, appends, cut, again, variable, isActive }) => [
    ...(anchor ? [anchor] : []),
    ...appends,
    ...cut,
    ...(again ?? []),
    { do: 'state', call: 'create', args: [variable, 'value 😀'] },
    { do: 'setActive', value: isActive },
    { do: 'setAutoApprove', tools: ['read', 'é'] },
  ])

/** Asserts that both sides read the files of a session the same, with each of its contexts as the active one. */
async function assertReadTheSame(directory, uuid, about) {
  const files = filesOf(join(directory, uuid))
  const session = JSON.parse(files['session.json'])
  let compared = 0
  for (const name of Object.keys(files)) {
    if (name === 'session.json') continue
    const text = files['session.json'].replace(session.active_context_id, name.slice(0, -'.json'.length))
    const start = { uuid, files: { ...files, 'session.json': text } }
    const steps = [
      { do: 'count', encodings: ENCODINGS },
      { do: 'specials' },
      { do: 'sweep', spread: ['cl100k_base', 'r50k_base'] },
    ]
    const result = await compareSteps(repaired, start, steps)
    if (result.difference) assert.fail(`${about}, ${name}\n${describeSteps(result)}`)
    compared += result.compared
  }
  return compared
}

test('sessions alternate between both sides for several turns', needsReference, async (t) => {
  let turnsDone = 0
  let operations = 0
  const sessions = fc.record({ specials, turns: list(1, TURNS, turns), isReferenceFirst: fc.boolean() }).map(handedIn)
  await forAll(SESSIONS, sessions, async ({ specials, turns, isReferenceFirst }) => {
    const directory = tempDir(t)
    let uuid
    for (const [turn, steps] of turns.entries()) {
      const name = (turn % 2 === 0) === isReferenceFirst ? 'reference' : 'package'
      const about = `turn ${turn + 1}, of the ${name}`
      const side = await sides[name](uuid ? { parent: directory, uuid } : { parent: directory, ...specials })
      for (const step of steps) await side.step(step)
      const saved = await side.step({ do: 'save' })
      assert.equal(saved.error, undefined, about)
      uuid ??= (await side.ids()).uuid
      // The saved state is on disk, and the other side loads it.
      const { active_context_id: active } = JSON.parse(filesOf(join(directory, uuid))['session.json'])
      const held = (await side.dumps())[(await side.ids()).contexts.indexOf(active)]
      for (const reader of Object.keys(sides)) {
        const other = await sides[reader]({ parent: directory, uuid })
        assert.equal(kept((await other.dumps())[0]), kept(held), `${about}, read by the ${reader}`)
        await other.close()
      }
      operations += await assertReadTheSame(directory, uuid, about)
      const { findings } = await Session.check(directory, uuid)
      assert.deepEqual(
        findings.filter(({ rule }) => !EXPECTED_FINDINGS.has(rule)),
        [],
        about,
      )
      await side.close()
      turnsDone += 1
    }
    const leftovers = readdirSync(join(directory, uuid)).filter(
      (file) => !/^(session|\d{8}-[0-9a-f-]{36})\.json$/.test(file),
    )
    assert.deepEqual(leftovers, [])
  })
  t.diagnostic(
    `${turnsDone} turns of ${SESSIONS} sessions on disk, ${operations} operations on what was read: none differs`,
  )
  assert.ok(!isUsual || operations > SESSIONS * TURNS * 3, `only ${operations} operations`)
})

const [bothSpecials] = fc.sample(
  specials.filter(({ system, tools }) => system !== null && tools !== null).map(handedIn),
  { numRuns: 1, seed: 99 },
)
/** Steps that append this many messages. */
const appends = (arbitrary, count, seed) =>
  handedIn(
    fc.sample(arbitrary, { numRuns: count, seed }).map((message) => ({ do: 'append', message, anchor: 'messages' })),
  )

/** A session of the reference on disk with everything that a file can hold. */
async function savedByReference(directory) {
  const world = await asItIs.open({ parent: directory, ...bothSpecials })
  const [last, ...first] = appends(plainMessages, 13, 99)
  for (const step of first) await world.step(step)
  const odd = `{"role":"user","content":[{"type":"text","text":"\u2028é😀\u0000\u007f"},{"type":"x","n":[1e16,5e-324,-0.0,1.0,9223372036854775808,{}]}],
    "metadata":{"2":1,"1":2,"__proto__":{"a":[]},"":null}}`
  await world.step({ do: 'append', message: odd, anchor: 'messages' })
  await world.step({ do: 'addAnchor', name: 'notes', index: 4, after: false })
  await world.step({ ...last, anchor: 'notes' })
  await world.step({ do: 'state', call: 'create', args: ['2', 'two'] })
  await world.step({ do: 'state', call: 'create', args: ['1', 'öne'] })
  await world.step({ do: 'sequenceWindow', count: 2 })
  await world.step({ do: 'save' })
  const { uuid, contexts } = await world.step({ do: 'ids' })
  await world.close()
  return { uuid, file: join(directory, uuid, `${contexts[0]}.json`) }
}

const ADDED =
  '{"role":"assistant","content":[{"type":"text","text":"Añadido."}],"id":"added","creation_timestamp":"2001-02-03T04:05:06.000007"}'

test('a file after one append has the same bytes as from the reference', needsReference, async (t) => {
  const directory = tempDir(t)
  const { uuid, file } = await savedByReference(directory)
  const files = filesOf(join(directory, uuid))
  const before = files[file.split('/').at(-1)]

  const session = await Session.load(directory, uuid)
  session.activeContext.append(JSON.parse(ADDED))
  await session.save()
  const ours = filesOf(join(directory, uuid))

  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, uuid, name), text)
  const world = await asItIs.open({ parent: directory, uuid })
  await world.step({ do: 'append', message: ADDED, anchor: 'messages' })
  await world.step({ do: 'save' })
  await world.close()
  const theirs = filesOf(join(directory, uuid))

  for (const name of Object.keys(theirs)) assert.equal(ours[name], theirs[name], name)
  assert.deepEqual(Object.keys(ours), Object.keys(theirs))

  // Besides the message, the index of the anchor `messages` and the two counters change.
  const after = ours[file.split('/').at(-1)]
  const old = before.split('\n')
  const now = after.split('\n')
  let head = 0
  while (old[head] === now[head] || `${old[head]},` === now[head]) head++
  const added = now.slice(head)
  const end = added.length - (old.length - head)
  assert.match(added.slice(0, end).join('\n'), /^ {4}\{\n.*"id": "added".*\n {4}\}$/s)
  const changed = old.slice(head).flatMap((line, index) => (line === added[end + index] ? [] : [line.trim()]))
  assert.deepEqual(
    changed.map((line) => line.replace(/\d+/, 'N')),
    ['N', '"message_sequence": N,', '"_mutation_counter": N,'],
  )
})

test('a file of this package has the same bytes after one append by either side', needsReference, async (t) => {
  const directory = tempDir(t)
  const { system, tools } = bothSpecials
  const session = Session.create(directory, {
    systemPromptMessage: JSON.parse(system),
    toolDefinitionsMessage: JSON.parse(tools),
  })
  for (const { message } of appends(messages, 12, 5)) session.activeContext.append(JSON.parse(message))
  session.activeContext.addAnchor('notes', 3)
  session.rollingSequenceWindow(6)
  session.state.create('é', '😀')
  await session.save()
  const files = filesOf(session.sessionDir)

  session.activeContext.append(JSON.parse(ADDED))
  await session.save()
  const ours = filesOf(session.sessionDir)

  for (const [name, text] of Object.entries(files)) writeFileSync(join(session.sessionDir, name), text)
  const world = await asItIs.open({ parent: directory, uuid: session.uuid })
  await world.step({ do: 'append', message: ADDED, anchor: 'messages' })
  await world.step({ do: 'save' })
  await world.close()
  assert.deepEqual(filesOf(session.sessionDir), ours)
})

test('nothing is written when nothing changed', needsReference, async (t) => {
  const directory = tempDir(t)
  const { uuid } = await savedByReference(directory)
  const before = filesOf(join(directory, uuid))
  const session = await Session.load(directory, uuid)
  session.activeContext.totalTokenCount('o200k_base')
  await session.save()
  assert.deepEqual(filesOf(join(directory, uuid)), before)
})
