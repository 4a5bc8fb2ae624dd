// Contexts from dicts of the right shape with contradictory fields: every call works.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from '../support/installed.mjs'
import { fc, fields, forAll, list, nth, sometimes } from '../support/property.mjs'
import { RecordingStorage } from '../support/storages.mjs'
import { text } from '../support/values.mjs'

const { Context, Session } = await load('peteos-session')

const NUMBERS = [0, 1, 2, 3, 5, 8, 100, -1, 1.5, 2 ** 40, 1e300, '3', null]
const COUNTERS = [0, 1, 2, 5, 100, 2 ** 40]
const NAMES = ['system_prompt', 'tools', 'messages', 'a', 'b', '']
const TYPES = ['Message', 'SystemPromptMessage', 'ToolDefinitionsMessage', 'Other', undefined]
const CONTENTS = [
  undefined,
  null,
  [],
  [{ type: 'text', text: 'x' }],
  [{ type: 'thinking', text: 'x' }],
  [{ type: 'thinking' }, { type: 'text', text: 5 }],
  [{ type: '?' }],
]

const ids = ['s', 't', 'm0', 'm1', 'm2', 'm3', '']
const pick = (...values) => fc.constantFrom(...values)

const message = fields({
  id: sometimes(0.9, pick(...ids)),
  role: sometimes(0.8, pick('user', 'assistant', 'tool', 'robot', '')),
  _type: pick(...TYPES),
  _sequence_number: sometimes(0.7, pick(...NUMBERS)),
  token_count: sometimes(0.5, pick(...NUMBERS)),
  content: pick(...CONTENTS),
  creation_timestamp: sometimes(0.8, pick('t')),
})

/** Contexts as dicts. A message that is named twice has a test of its own. */
const dicts = fields({
  id: pick('c'),
  messages: sometimes(0.9, list(0, 7, message)),
  anchor_points: sometimes(0.8, list(0, 5, fc.tuple(pick(...NAMES), pick(...COUNTERS)))),
  message_sequence: sometimes(0.7, pick(...COUNTERS)),
  _mutation_counter: sometimes(0.7, pick(...COUNTERS)),
  _anchor_sequences: sometimes(0.7, list(0, 6, pick(...COUNTERS))),
  children: sometimes(0.5, list(0, 2, pick('x', '../x'))),
  system_prompt_message_id: sometimes(0.7, pick(...ids, null)),
  tool_definitions_message_id: sometimes(0.7, pick(...ids, null)),
  origin_context_id: sometimes(0.3, pick('x', null)),
}).filter((dict) => dict.system_prompt_message_id !== dict.tool_definitions_message_id)

test('every call works on any context file, and no message is lost', async () => {
  const choices = fc.record({ dict: dicts, anchor: fc.nat(), place: fc.nat(), afterExisting: fc.boolean() })
  await forAll(300, choices, async ({ dict, anchor, place, afterExisting }) => {
    const context = Context.fromDict(dict)
    const ids = (other) => other.messages.map(({ id }) => id).sort()
    const specials = [
      ...new Set([context.systemPromptMessage, context.toolDefinitionsMessage].filter((message) => message !== null)),
    ].length
    const others = context.messageCount - specials
    assert.equal(context.messages.length, context.messageCount)
    assert.deepEqual(ids(context.fork()), ids(context))
    for (let count = 0; count <= others; count++) {
      const window = context.rollingSequenceWindow(count)
      if (count === others) assert.equal(window, null)
      else assert.equal(window.messageCount, count + specials)
      const { kept, dropped } = context.planSequenceWindow(count)
      assert.deepEqual([kept.length, dropped.length], [count, others - count])
    }
    const counts = context.tokenCounts()
    const total = counts.reduce((sum, count) => sum + count, 0)
    assert.equal(context.totalTokenCount(), total)
    for (const budget of [0, 1, Math.floor(total / 2), Math.max(0, total - 1), total]) {
      const report = context.planTokenWindow(budget)
      const window = context.rollingTokenWindow(budget)
      assert.equal(report.tokensBefore, total)
      assert.equal(report.kept.length + report.dropped.length, others)
      assert.equal(window === null, report.dropped.length === 0)
      assert.equal((window ?? context).totalTokenCount(), report.tokensAfter)
      if (report.kept.length > 0) assert.ok(report.tokensAfter <= budget)
    }
    context.stripThinking()
    const before = context.messageCount
    const anchors = context.anchorPoints.map(([name]) => name)
    if (anchors.length > 0) {
      const stored = context.append(text('x'), nth(anchors, anchor))
      assert.ok(context.messages.includes(stored))
      assert.equal(context.messages.filter((message) => message._sequence_number === stored._sequence_number).length, 1)
    }
    assert.equal(context.messageCount, before + (anchors.length > 0 ? 1 : 0))
    context.addAnchor('new', place % (context.messageCount + 1), { afterExisting })
    const added = context.append(text('y'), 'new')
    // Messages without a number rank by position, so that one displayed after the newest may be newer still.
    const isNumber = (number) => Number.isSafeInteger(number) && number >= 0
    if (context.messages.every((message) => isNumber(message._sequence_number)))
      assert.deepEqual(context.planSequenceWindow(1).kept, [added.id])
    assert.ok(context.anchorPoints.every(([, index]) => index <= context.messageCount))
    const storage = new RecordingStorage()
    const session = Session.create('a', { storage })
    session.setActiveContext(context)
    await session.save()
    const again = await Session.load('a', session.uuid, { storage })
    // The forks above were never saved.
    assert.deepEqual(again.activeContext.rawDict, { ...context.rawDict, children: dict.children ?? [] })
    assert.deepEqual(
      again.activeContext.fork().messages.map(({ id }) => id),
      context.fork().messages.map(({ id }) => id),
    )
  })
})
