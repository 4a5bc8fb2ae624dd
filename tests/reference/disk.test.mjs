// The same files, both ways: what one side saves the other loads, continues and saves. The reference is as it is here,
// with the JSON reader that it has.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Random } from '../package/support/random.mjs'
import { messagesOf, specialsOf } from './generate.mjs'
import { Oracle, available, needsReference } from './oracle.mjs'
import { compareSteps, describeSteps } from './support/compare.mjs'
import { World } from './support/ours.mjs'
import { ENCODINGS, Session } from './support/package.mjs'
import { parseText, prettyLines } from './support/json-text.mjs'

const SESSIONS = 8
const TURNS = 5

/** What a check finds in messages that are random: calls without results, and messages before the special ones. */
const OF_RANDOM_MESSAGES = new Set(['call-without-result', 'result-without-call', 'misplaced-special-message'])

const asItIs = available && new Oracle({ asIs: true })
/** Says how files are read, with the counting repaired. */
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

/** The two sides with the same calls; what they hold is given as dumps with the ids as they are. */
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

/** What is done in one turn. */
function stepsOf(random, messages) {
  const steps = []
  const append = (on) => ({
    do: 'append',
    on,
    message: messages(),
    anchor: random.pick(['messages', 'messages', 'tools', 'notes']),
  })
  if (random.chance(0.6))
    steps.push({
      do: 'addAnchor',
      name: random.pick(['notes', 'pinned', 'é']),
      index: random.integer(0, 3),
      after: random.chance(0.5),
    })
  for (let count = random.integer(1, 4); count > 0; count--) steps.push(append(0))
  const cut = random.integer(0, 3)
  if (cut === 0) steps.push({ do: 'sessionSequenceWindow', count: random.integer(2, 6) })
  if (cut === 1) steps.push({ do: 'sessionTokenWindow', budget: random.integer(100, 600), encoding: 'cl100k_base' })
  if (cut === 2) steps.push({ do: 'fork', on: 0, start: random.integer(-9, 3) }, { do: 'activate', on: 1 })
  if (random.chance(0.4)) steps.push({ do: 'save' }, { do: 'sessionSequenceWindow', count: 3 })
  steps.push({ do: 'state', call: 'create', args: [random.pick(['2', '1', 'é', '__proto__', 'plan']), 'value 😀'] })
  steps.push({ do: 'setActive', value: random.chance(0.5) }, { do: 'setAutoApprove', tools: ['read', 'é'] })
  return steps
}

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

test('sessions go to and fro between both sides for several turns', needsReference, async (t) => {
  let turns = 0
  let operations = 0
  for (let seed = 1; seed <= SESSIONS; seed++) {
    const directory = tempDir(t)
    const random = new Random(seed)
    const messages = messagesOf(random, { without: '<|' })
    let uuid
    for (let turn = 0; turn < TURNS; turn++) {
      const name = (seed + turn) % 2 === 0 ? 'reference' : 'package'
      const about = `seed ${seed}: turn ${turn + 1}, of the ${name}`
      const side = await sides[name](uuid ? { parent: directory, uuid } : { parent: directory, ...specialsOf(random) })
      for (const step of stepsOf(random, messages)) await side.step(step)
      const saved = await side.step({ do: 'save' })
      assert.equal(saved.error, undefined, about)
      uuid ??= (await side.ids()).uuid
      // What was in memory is on disk, and the other side finds it there.
      const { active_context_id: active } = JSON.parse(filesOf(join(directory, uuid))['session.json'])
      const held = (await side.dumps())[(await side.ids()).contexts.indexOf(active)]
      for (const reader of Object.keys(sides)) {
        const other = await sides[reader]({ parent: directory, uuid })
        assert.equal(kept((await other.dumps())[0]), kept(held), `${about}, read by the ${reader}`)
        await other.close()
      }
      operations += await assertReadTheSame(directory, uuid, about)
      const { findings } = await Session.check(directory, uuid)
      assert.deepEqual(findings.filter(({ rule }) => !OF_RANDOM_MESSAGES.has(rule)), [], about)
      await side.close()
      turns += 1
    }
    const leftovers = readdirSync(join(directory, uuid)).filter(
      (file) => !/^(session|\d{8}-[0-9a-f-]{36})\.json$/.test(file),
    )
    assert.deepEqual(leftovers, [])
  }
  console.log(`${turns} turns of ${SESSIONS} sessions on disk, ${operations} operations on what was read: none differs`)
  assert.ok(operations > SESSIONS * TURNS * 3, `only ${operations} operations`)
})

/** A session of the reference on disk with everything that a file can hold. */
async function savedByReference(directory) {
  const random = new Random(99)
  const world = await asItIs.open({ parent: directory, ...specialsOf(random, { all: true }) })
  const messages = messagesOf(random, { without: '<|' })
  for (let count = 0; count < 12; count++) await world.step({ do: 'append', message: messages(), anchor: 'messages' })
  const odd = `{"role":"user","content":[{"type":"text","text":"\u2028é😀\u0000\u007f"},{"type":"x","n":[1e16,5e-324,-0.0,1.0,9223372036854775808,{}]}],
    "metadata":{"2":1,"1":2,"__proto__":{"a":[]},"":null}}`
  await world.step({ do: 'append', message: odd, anchor: 'messages' })
  await world.step({ do: 'addAnchor', name: 'notes', index: 4, after: false })
  await world.step({ do: 'append', message: messages(), anchor: 'notes' })
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

test('a file after one append has the bytes that the reference gives it', needsReference, async (t) => {
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

  // Beside the message there are the end of the anchor `messages` and the two counters.
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

test('a file of ours after one append by either has the same bytes', needsReference, async (t) => {
  const directory = tempDir(t)
  const random = new Random(5)
  const messages = messagesOf(random, {})
  const { system, tools } = specialsOf(random, { all: true })
  const session = Session.create(directory, {
    systemPromptMessage: JSON.parse(system),
    toolDefinitionsMessage: JSON.parse(tools),
  })
  for (let count = 0; count < 12; count++) session.activeContext.append(JSON.parse(messages()))
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
