// Anchors, alone and against the model of docs/format.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { refusedNow } from '../support/errors.mjs'
import { Model, shape } from '../support/model.mjs'
import { forSeeds } from '../support/random.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

test('append inserts at an anchor and moves it and those after it', () => {
  const context = Context.create()
  const texts = () => context.messages.map(({ content }) => content[0].text).join(' ')
  context.append(text('m1'))
  context.append(text('s1'), 'system_prompt')
  context.append(text('t1'), 'tools')
  context.append(text('s2'), 'system_prompt')
  assert.equal(texts(), 's1 s2 t1 m1')
  assert.deepEqual(context.anchorPoints, [
    ['system_prompt', 2],
    ['tools', 3],
    ['messages', 4],
  ])
  context.addAnchor('notes', 3)
  context.append(text('n1'), 'notes')
  context.append(text('t2'), 'tools')
  assert.equal(texts(), 's1 s2 t1 t2 n1 m1')
  assert.deepEqual(context.anchorPoints, [
    ['system_prompt', 2],
    ['tools', 4],
    ['notes', 5],
    ['messages', 6],
  ])
})

test('with equal indices a new anchor goes after the existing ones, or before them', () => {
  const names = (context) => context.anchorPoints.map(([name]) => name)
  const context = Context.create()
  context.addAnchor('after', 0)
  context.addAnchor('before', 0, { afterExisting: false })
  assert.deepEqual(names(context), ['before', 'system_prompt', 'tools', 'messages', 'after'])
  context.addAnchor('third', 0, { afterExisting: true })
  assert.deepEqual(names(context), ['before', 'system_prompt', 'tools', 'messages', 'after', 'third'])
  // The conversation ends at `messages`, whatever stands after it.
  context.append(text('x'), 'third')
  context.append(text('y'))
  assert.deepEqual(
    context.messages.map(({ content }) => content[0].text),
    ['y', 'x'],
  )
})

test('an anchor takes a sequence number, and it is saved', async () => {
  const storage = new RecordingStorage()
  const session = Session.create('a', { storage })
  const context = session.activeContext
  context.append(text('x'))
  context.addAnchor('notes', 0)
  assert.equal(context.rawDict._mutation_counter, 5)
  assert.equal(context.rawDict.message_sequence, 1)
  assert.equal(context.append(text('y'))._sequence_number, 5)
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.deepEqual(again.activeContext.rawDict._anchor_sequences, [0, 1, 2, 4])
  assert.deepEqual(again.activeContext.anchorPoints, context.anchorPoints)
})

test('a name that is taken, an index past the end and an unknown anchor are refused by name', () => {
  const context = Context.create()
  context.append(text('x'))
  const before = context.rawDict
  for (const name of ['messages', 'tools']) {
    refusedNow(() => context.addAnchor(name, 0), 'InvalidArgumentError', {
      argument: 'name',
      message: new RegExp(name),
    })
  }
  refusedNow(() => context.addAnchor('n', 2), 'InvalidArgumentError', { argument: 'index' })
  refusedNow(() => context.append(text('y'), 'nowhere'), 'InvalidArgumentError', {
    argument: 'anchorPoint',
    message: /nowhere.*system_prompt, tools, messages/,
  })
  assert.equal(context.rawDict, before)
})

test('names of anchors may be anything', () => {
  const context = Context.create()
  for (const name of ['', '__proto__', 'constructor', 'é', 'a\0b', 'x'.repeat(10000)]) {
    context.addAnchor(name, context.messageCount)
    context.append(text(name), name)
    assert.equal(context.messages.at(-1).content[0].text, name)
  }
  assert.equal(context.anchorPoints.length, 9)
  assert.equal(new Set(context.fork().anchorPoints.map(([name]) => name)).size, 9)
})

test('anchors that point past the end, as some files have them, do no harm', () => {
  const context = Context.fromDict({
    messages: [{ role: 'user', id: 'a' }],
    anchor_points: [
      ['messages', 9],
      ['late', 9007199254740991],
    ],
    _mutation_counter: 5,
  })
  context.append(text('b'))
  context.append(text('c'), 'late')
  assert.equal(context.messageCount, 3)
  assert.ok(context.anchorPoints.every(([, index]) => index <= 3))
  assert.equal(context.fork().messageCount, 3)
  assert.equal(context.rollingSequenceWindow(1).messageCount, 1)
})

test('anchors, appends and forks do what the model does', async () => {
  await forSeeds(400, (random) => {
    const { context, model } = randomPair(random)
    assert.deepEqual(shape(context), shape(model))
    const options = {}
    const limits = [0, 1, 2, 3, -1, -2, random.integer(0, model.counter + 2), -random.integer(1, model.counter + 2)]
    if (random.chance(0.6)) options.start = random.pick(limits)
    if (random.chance(0.6)) options.end = random.pick(limits)
    const replacements = {}
    if (random.chance(0.3)) {
      options.systemPromptMessage = SystemPromptMessage.create('new')
      replacements.system = { id: options.systemPromptMessage.id }
    }
    if (random.chance(0.3)) {
      options.toolDefinitionsMessage = ToolDefinitionsMessage.create([])
      replacements.tools = { id: options.toolDefinitionsMessage.id }
    }
    const child = context.fork(options)
    assert.deepEqual(shape(child), shape(model.fork({ ...options, ...replacements })), JSON.stringify(options))
    // A fork is a context like any other.
    child.append(text('x', { id: 'last' }))
    assert.deepEqual(
      shape(child.fork()).messages.map(([id]) => id),
      child.messages.map(({ id }) => id),
    )
  })
})

/** The same random actions done to a context and to the model of one. */
function randomPair(random) {
  const specials = {}
  if (random.chance(0.5)) specials.systemPromptMessage = SystemPromptMessage.create('s')
  if (random.chance(0.5)) specials.toolDefinitionsMessage = ToolDefinitionsMessage.create([])
  const context = Context.create(specials)
  const model = Model.create({ system: specials.systemPromptMessage, tools: specials.toolDefinitionsMessage })
  const steps = random.integer(0, 25)
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.25)) {
      const [index, afterExisting] = [random.integer(0, context.messageCount), random.chance(0.5)]
      context.addAnchor(`anchor${step}`, index, { afterExisting })
      model.addAnchor(`anchor${step}`, index, afterExisting)
    } else {
      const anchor = random.chance(0.5) ? 'messages' : random.pick(context.anchorPoints)[0]
      context.append(text('x', { id: `m${step}` }), anchor)
      model.append({ id: `m${step}` }, anchor)
    }
  }
  return { context, model }
}
