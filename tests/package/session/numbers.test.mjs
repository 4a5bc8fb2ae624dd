// Numbers in files keep their text, whatever JavaScript would make of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loaded } from '../support/loaded.mjs'
import { fileText, Raw } from '../support/text.mjs'
import { NUMBERS, text } from '../support/values.mjs'

test('numbers in a file keep their text after another change', async () => {
  const numbers = NUMBERS.map((number) => new Raw(number))
  const deep = {
    list: numbers,
    object: Object.fromEntries(NUMBERS.map((number) => [`n${number}`, new Raw(number)])),
    nested: [[{ x: numbers }]],
  }
  const message = {
    id: 'm',
    role: 'user',
    content: [
      { type: 'text', text: 'x' },
      { type: 'new', ...deep },
    ],
    _type: 'Message',
    _hook_ids: [],
    creation_timestamp: 't',
    _sequence_number: 3,
    metadata: deep,
    unknown: deep,
  }
  const context = {
    messages: [message],
    id: 'c',
    content_map: {},
    anchor_points: [
      ['system_prompt', 0],
      ['tools', 0],
      ['messages', 1],
    ],
    message_sequence: 1,
    _mutation_counter: 4,
    children: [],
    unknown: deep,
    _anchor_sequences: [0, 1, 2],
  }
  const sessionDict = {
    uuid: 's',
    active_context_id: 'c',
    auto_approve_tools: [],
    state_data: {},
    is_active: false,
    unknown: deep,
  }
  const { storage, session } = await loaded(fileText(context), fileText(sessionDict))
  session.isActive = true
  const added = session.activeContext.append(text('y'))
  await session.save()
  assert.equal(storage.text('a/s/session.json'), fileText({ ...sessionDict, is_active: true }))
  const expected = {
    ...context,
    messages: [message, added],
    anchor_points: [
      ['system_prompt', 0],
      ['tools', 0],
      ['messages', 2],
    ],
    message_sequence: 2,
    _mutation_counter: 5,
  }
  assert.equal(storage.text('a/s/c.json'), fileText(expected))
})

test('numbers keep their text in a changed message, a fork, and an assigned rawDict', async () => {
  // A number too large for a double is Infinity in JavaScript and cannot be passed.
  const numbers = NUMBERS.filter((number) => Number.isFinite(Number(number))).map((number) => new Raw(number))
  const message = { id: 'm', role: 'user', content: [{ type: 'new', numbers }], metadata: { numbers } }
  const dict = { messages: [message], id: 'c', unknown: { numbers } }
  const { storage, session } = await loaded(fileText(dict))
  const context = session.activeContext
  const written = fileText({ numbers }, '    ')
    .slice(4)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.trim())
    .join('')
  const count = (name) => storage.text(`a/s/${name}.json`).replaceAll(/\n */g, '').split(written).length - 1
  context.append(text('y'))
  await session.save()
  assert.equal(count('c'), 3)
  context.updateMessage('m', { mood: 'good' })
  await session.save()
  assert.equal(count('c'), 3)
  session.setActiveContext(context.fork())
  await session.save()
  assert.equal(count(session.activeContextId), 2)
  session.setActiveContext(context)
  context.rawDict = { ...context.rawDict, other: 1 }
  await session.save()
  assert.equal(count('c'), 3)
  session.rawDict = { ...session.rawDict, other: 1 }
  await session.save()
  assert.equal(count('c'), 3)
})

test('numbers keep their text when updateMessage gets them back unchanged', async () => {
  const part = { type: 'new', a: new Raw('1.0'), b: new Raw('9223372036854775808') }
  const { storage, session } = await loaded(
    fileText({ id: 'c', messages: [{ id: 'm', role: 'user', content: [part] }] }),
  )
  const context = session.activeContext
  context.updateMessage('m', { content: [{ ...context.messages[0].content[0], approved: true }] })
  await session.save()
  assert.ok(storage.text('a/s/c.json').includes('"a": 1.0,'))
  assert.ok(storage.text('a/s/c.json').includes('"b": 9223372036854775808,'))
})

test('numbers of messages keep their text when other messages are removed or added before them', async () => {
  const messages = ['a', 'b', 'c'].map((id, index) => ({ id, role: 'user', n: new Raw(`${index}.0`) }))
  const { storage, session } = await loaded(fileText({ id: 'c', messages }))
  const context = session.activeContext
  const numbers = async () => {
    await session.save()
    return [...storage.text('a/s/c.json').matchAll(/"n": (.*?),?\n/g)].map(([, number]) => number)
  }
  context.rawDict = { ...context.rawDict, messages: context.messages.slice(1) }
  assert.deepEqual(await numbers(), ['1.0', '2.0'])
  context.rawDict = { ...context.rawDict, messages: [{ role: 'user', id: 'new' }, ...context.messages] }
  assert.deepEqual(await numbers(), ['1.0', '2.0'])
  context.rawDict = { ...context.rawDict, messages: context.messages.toReversed() }
  assert.deepEqual(await numbers(), ['2.0', '1.0'])
})
