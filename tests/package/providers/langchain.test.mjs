// docs/trimming.md: LangChain's `trimMessages` and ours on the same arrays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AIMessage,
  HumanMessage,
  trimMessages as langchain,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { load } from '../support/installed.mjs'

const { check, countTokens, fromMessages, trimMessages } = await load('peteos-session')

const call = (id) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })
const OURS = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Compare a and b.' },
  { role: 'assistant', content: null, tool_calls: [call('c1'), call('c2')] },
  { role: 'tool', tool_call_id: 'c1', content: 'text of a' },
  { role: 'tool', tool_call_id: 'c2', content: 'text of b' },
  { role: 'assistant', content: 'They are equal.' },
]
const THEIRS = [
  new SystemMessage('Be brief.'),
  new HumanMessage('Compare a and b.'),
  new AIMessage({
    content: '',
    tool_calls: [
      { id: 'c1', name: 'read', args: {} },
      { id: 'c2', name: 'read', args: {} },
    ],
  }),
  new ToolMessage({ content: 'text of a', tool_call_id: 'c1' }),
  new ToolMessage({ content: 'text of b', tool_call_id: 'c2' }),
  new AIMessage('They are equal.'),
]
const byCount = { strategy: 'last', tokenCounter: (messages) => messages.length }
const types = (messages) => messages.map((message) => message.getType())
const faults = (messages) => check(fromMessages(messages, 'openai-chat'), 'openai-chat').map(({ rule }) => rule)

test('the defaults: results without their call, and a system message that is gone', async () => {
  const theirs = await langchain(THEIRS, { ...byCount, maxTokens: 3 })
  assert.deepEqual(types(theirs), ['tool', 'tool', 'ai'])
  assert.notDeepEqual(faults(OURS.slice(3)), [], 'which OpenAI refuses')
  const ours = trimMessages(OURS, 'openai-chat', { maxMessages: 3 })
  assert.deepEqual(ours.report.kept, [0, 1, 5], 'the prompt and the answer; the exchange does not fit')
  assert.deepEqual(faults(ours.messages), [])
})

test('with the system message: parallel calls are split', async () => {
  const theirs = await langchain(THEIRS, { ...byCount, maxTokens: 3, includeSystem: true })
  assert.deepEqual(types(theirs), ['system', 'tool', 'ai'])
  const ours = trimMessages(OURS, 'openai-chat', { maxMessages: 4, boundary: 'exchange' })
  assert.deepEqual(ours.report.kept, [0, 2, 3, 4, 5])
  assert.deepEqual([faults(ours.messages), ours.report.broken], [[], []])
})

test('too small a limit: theirs returns nothing, ours says what is needed', async () => {
  assert.deepEqual(await langchain(THEIRS, { ...byCount, maxTokens: 0 }), [])
  assert.throws(() => trimMessages(OURS, 'openai-chat', { maxMessages: 1 }), { name: 'WindowTooSmallError', needed: 2 })
})

test('the counts: ours are exact, and the names of special tokens are text', () => {
  const message = [{ role: 'user', content: 'What does <|endoftext|> mean?' }]
  const { report } = trimMessages(message, 'openai-chat', { maxTokens: 100, encoding: 'o200k_base' })
  const text = 'user: [{"type": "text", "text": "What does <|endoftext|> mean?"}]'
  assert.equal(report.tokens[0], countTokens(text, 'o200k_base'))
})
