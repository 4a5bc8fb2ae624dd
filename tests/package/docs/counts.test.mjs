// The table of docs/counting.md: raw text, counted text, and what OpenAI documents for the same message.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load, packageDir } from '../support/installed.mjs'

const ENCODING = 'o200k_base'
const { ContentPart, Context, Message, countTokens } = await load('peteos-session')

const LONG =
  'Two tests fail: one of the parser and one of the writer. Both expect a space after each comma, and the writer no longer puts one there.'
const RESULT = 'export function parse(text) { return text.split(",") }'
const ARGUMENTS = '{"path": "src/parser.js"}'
/** In the order of the table: the message, its raw text, and the role that OpenAI is given (null: not documented). */
const MESSAGES = [
  ['user', ContentPart.text('Hi'), 'Hi', 'user'],
  ['user', ContentPart.text('Which tests fail?'), 'Which tests fail?', 'user'],
  ['assistant', ContentPart.text(LONG), LONG, 'assistant'],
  ['assistant', ContentPart.toolUse('call_1', 'read_file', ARGUMENTS), ARGUMENTS, null],
  ['tool_result', ContentPart.toolResult('call_1', RESULT), RESULT, null],
]

test('the table of token counts holds what is counted', () => {
  const page = readFileSync(join(packageDir, 'docs', 'counting.md'), 'utf8')
  const table = page
    .slice(page.indexOf('| message | raw text | counted |'))
    .split('\n\n')[0]
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(2, 5).map((cell) => cell.trim()))
  const count = (text) => countTokens(text, ENCODING)
  const measured = MESSAGES.map(([role, part, raw, providerRole]) => {
    const context = Context.create()
    context.append(Message.create(role, [part]))
    const documented = providerRole === null ? 'not documented' : String(3 + count(providerRole) + count(raw))
    return [String(count(raw)), String(context.totalTokenCount(ENCODING)), documented]
  })
  assert.deepEqual(table, measured)
})

test('a message of one short text costs about 13 tokens more than its text', () => {
  const context = Context.create()
  context.append(Message.create('user', [ContentPart.text('Which tests fail?')]))
  const extra = context.totalTokenCount(ENCODING) - countTokens('Which tests fail?', ENCODING)
  assert.ok(extra >= 12 && extra <= 14, `${extra} tokens`)
})
