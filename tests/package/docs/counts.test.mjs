// The tables of docs/counting.md: raw text, counted text, and what OpenAI documents for the same message.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load, packageDir, root } from '../support/installed.mjs'

const ENCODING = 'o200k_base'
const { ContentPart, Context, Message, Session, countTokens } = await load('peteos-session')

const LONG =
  'Two tests fail: one of the parser and one of the writer. Both expect a space after each comma, and the writer no longer puts one there.'
const RESULT = 'export function parse(text) { return text.split(",") }'
const ARGUMENTS = '{"path": "src/parser.js"}'
/** In the order of the table: the message, its raw text, and the role sent to OpenAI (null: not documented). */
const MESSAGES = [
  ['user', ContentPart.text('Hi'), 'Hi', 'user'],
  ['user', ContentPart.text('Which tests fail?'), 'Which tests fail?', 'user'],
  ['assistant', ContentPart.text(LONG), LONG, 'assistant'],
  ['assistant', ContentPart.toolUse('call_1', 'read_file', ARGUMENTS), ARGUMENTS, null],
  ['tool_result', ContentPart.toolResult('call_1', RESULT), RESULT, null],
]

/** The rows of the table that begins with these cells. */
function tableOf(head) {
  const page = readFileSync(join(packageDir, 'docs', 'counting.md'), 'utf8')
  const rows = page.slice(page.indexOf(head)).split('\n\n')[0].split('\n').slice(2)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test('the table of token counts is correct', () => {
  const table = tableOf('| message | raw text | counted |').map((cells) => cells.slice(1))
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

test('the table of the demo session is correct', async () => {
  const encoding = 'cl100k_base'
  const [uuid] = (await Session.list(join(root, 'examples', 'demo-session'))).map(({ uuid }) => uuid)
  const { activeContext } = await Session.load(join(root, 'examples', 'demo-session'), uuid)
  const counts = activeContext.tokenCounts(encoding)
  const sums = new Map()
  const add = (role, raw, counted) => {
    const [messages, before, after] = sums.get(role) ?? [0, 0, 0]
    sums.set(role, [messages + 1, before + raw, after + counted])
  }
  activeContext.messages.forEach(({ role, content = [] }, index) => {
    const raw = content.reduce((sum, part) => sum + countTokens(rawTextOf(part), encoding), 0)
    for (const row of [role, 'all, with the special messages']) add(row, raw, counts[index])
  })
  for (const [role, ...cells] of tableOf('| role | messages | raw text |')) {
    const [messages, raw, counted] = sums.get(role)
    const more = `${Math.round((counted / raw - 1) * 100)} %`
    assert.deepEqual(cells, [...[messages, raw, counted].map((sum) => sum.toLocaleString('en')), more], role)
  }
})

/** The readable text of a part, without base64 data. */
function rawTextOf(part) {
  if (part.type === 'tool') return JSON.stringify(part)
  return part.text ?? part.arguments ?? part.content ?? ''
}
