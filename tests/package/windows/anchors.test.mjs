// Anchors, by example and against the model of docs/format.md.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { histories, pairOf } from '../support/histories.mjs'
import { load } from '../support/installed.mjs'
import { shape } from '../support/model.mjs'
import { chance, fc, forAll, sometimes } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

test('append inserts at an anchor, and moves it and the anchors after it', () => {
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
  // The conversation ends at `messages`, whatever comes after it.
  context.append(text('x'), 'third')
  context.append(text('y'))
  assert.deepEqual(
    context.messages.map(({ content }) => content[0].text),
    ['y', 'x'],
  )
})

test('an anchor takes a sequence number, which is saved', async () => {
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

test('an anchor may have any name', () => {
  const context = Context.create()
  for (const name of ['', '__proto__', 'constructor', 'é', 'a\0b', 'x'.repeat(10000)]) {
    context.addAnchor(name, context.messageCount)
    context.append(text(name), name)
    assert.equal(context.messages.at(-1).content[0].text, name)
  }
  assert.equal(context.anchorPoints.length, 9)
  assert.equal(new Set(context.fork().anchorPoints.map(([name]) => name)).size, 9)
})

test('anchors past the end, as in some files, do no harm', () => {
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

const bound = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -60, max: 60 }))
const forks = fc.record({
  history: histories,
  start: sometimes(0.6, bound),
  end: sometimes(0.6, bound),
  isPromptNew: chance(0.3),
  areToolsNew: chance(0.3),
})

test('anchors, appends and forks match the model', async () => {
  await forAll(400, forks, ({ history, isPromptNew, areToolsNew, ...range }) => {
    const { context, model } = pairOf(history)
    assert.deepEqual(shape(context), shape(model))
    const { start, end } = range
    const specials = {
      ...(isPromptNew && { systemPromptMessage: SystemPromptMessage.create('new') }),
      ...(areToolsNew && { toolDefinitionsMessage: ToolDefinitionsMessage.create([]) }),
    }
    const { systemPromptMessage: system, toolDefinitionsMessage: tools } = specials
    const options = { ...(start !== undefined && { start }), ...(end !== undefined && { end }), ...specials }
    const child = context.fork(options)
    const expected = model.fork({ start, end, system: system && { id: system.id }, tools: tools && { id: tools.id } })
    assert.deepEqual(shape(child), shape(expected))
    // A fork is a context like any other.
    child.append(text('x', { id: 'last' }))
    assert.deepEqual(
      child.fork().messages.map(({ id }) => id),
      child.messages.map(({ id }) => id),
    )
  })
})
