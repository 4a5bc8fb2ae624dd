// `npm run demo`: its output, its checks, the files that it leaves, and its exit codes.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import stringWidth from 'string-width'
import { checksOf } from '../../../scripts/demo/checks.mjs'
import { toColumns, toLine } from '../../../scripts/demo/text.mjs'
import { readSessionFiles } from '../../../scripts/demo/working-copy.mjs'
import { complaints, demo, examples } from '../support/demo.mjs'
import { tempDir, textsUnder } from '../support/files.mjs'
import { load } from '../support/installed.mjs'

const { check, ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

const [{ uuid: example }] = await Session.list(examples)

const ROW = /^ *(\d+)  (\S+) +(\S.*?) +([\d,]+) +([\d,]+)  (kept|-) +(kept|-)(?: |$)/
const GAP = /^ *…  +([\d,]+) messages +([\d,]+) +(kept|-) +(kept|-)$/

/** The rows of the message table, one for each message; those that are not shown have no `role`. */
function rowsOf(stdout) {
  const lines = stdout.split('\n')
  const start = lines.findIndex((line) => /^ *#  role /.test(line)) + 1
  assert.ok(start > 0, 'there is a table')
  const end = lines.findIndex((line) => line.startsWith("'from here'"))
  return lines.slice(start, end).flatMap((line) => {
    const gap = GAP.exec(line)
    if (gap !== null) return Array.from({ length: int(gap[1]) }, () => ({ message: gap[3], turn: gap[4] }))
    const [, number, role, , tokens, fromHere, message, turn] = ROW.exec(line) ?? assert.fail(`no row: ${line}`)
    return { number: int(number), role, tokens: int(tokens), fromHere: int(fromHere), message, turn }
  })
}

function int(text) {
  return Number(text.replaceAll(',', ''))
}

/** Checks the table of a session against the package; returns the rows that are shown. */
function checkTable(stdout, context, { maxTokens, encoding }) {
  const rows = rowsOf(stdout)
  const tokens = context.tokenCounts(encoding)
  assert.equal(rows.length, tokens.length)
  for (const boundary of ['message', 'turn']) {
    const { messages } = context.planTokenWindow(maxTokens, encoding, { boundary })
    assert.deepEqual(
      rows.map((row) => row[boundary] === 'kept'),
      messages.map(({ kept }) => kept),
      boundary,
    )
  }
  const special = context
    .planTokenWindow(maxTokens, encoding)
    .messages.filter(({ reason }) => reason === 'special').length
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
  for (const [index, row] of rows.entries()) {
    if (row.role === undefined) continue
    const fromHere = sum(tokens.slice(Math.max(index, special))) + sum(tokens.slice(0, special))
    const { role } = context.messages[index]
    assert.deepEqual([row.number, row.role, row.tokens, row.fromHere], [index + 1, role, tokens[index], fromHere])
  }
  return rows.filter(({ role }) => role !== undefined)
}

/** The session directory that a run with --keep left behind. */
function copyIn(temp, uuid) {
  const [folder] = readdirSync(temp)
  return join(temp, folder, uuid)
}

/** A session of a few messages in a folder of its own. */
async function smallSession(t) {
  const parentDir = tempDir(t)
  const session = Session.create(parentDir, {
    systemPromptMessage: SystemPromptMessage.create('Be careful.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'read', description: 'Reads', parameters: {} }]),
  })
  for (let index = 0; index < 12; index += 1) {
    const role = index % 2 ? 'assistant' : 'user'
    session.activeContext.append(Message.create(role, [ContentPart.text(`Number ${index}.`)]))
  }
  await session.save()
  return session
}

test('the demo session is long, and was written by the Python package', async () => {
  const session = await Session.load(examples, example)
  const { messages } = session.activeContext
  assert.ok(messages.length >= 240)
  const parts = messages.flatMap(({ content }) => content)
  const types = new Set(parts.map(({ type }) => type))
  assert.deepEqual([...types].sort(), ['image', 'text', 'thinking', 'tool', 'tool_result', 'tool_use'])
  const calls = messages.map(({ content }) => content.filter(({ type }) => type === 'tool_use').length)
  assert.ok(Math.max(...calls) > 1, 'parallel calls')
  const results = new Set(parts.filter(({ type }) => type === 'tool_result').map((part) => part.call_id))
  assert.ok(
    parts.every((part) => part.type !== 'tool_use' || results.has(part.call_id)),
    'every call has its result',
  )
  const texts = parts.map(({ text }) => text ?? '').join('')
  for (const script of ['Han', 'Hiragana', 'Arabic', 'Devanagari']) {
    assert.match(texts, new RegExp(`\\p{Script=${script}}`, 'u'))
  }
  const parent = await session.loadContext(session.activeContext.originContextId)
  assert.ok(parent.children.includes(session.activeContextId))
  assert.ok(session.autoApproveTools.length > 0 && session.state.list().length > 0)
})

test('without arguments it compares, windows, saves, loads and checks the demo session', async (t) => {
  const before = textsUnder(examples)
  const { code, stdout, temp } = await demo(t, [])
  assert.equal(code, 0)
  assert.match(stdout, /\nOK\n$/)
  assert.ok(stdout.split('\n').length <= 60, 'it fits two screens')
  for (const line of stdout.split('\n')) assert.ok(stringWidth(line) <= 120, line)
  const { activeContext } = await Session.load(examples, example)
  const shown = checkTable(stdout, activeContext, { maxTokens: 6000, encoding: 'cl100k_base' })
  assert.ok(shown.length >= 8 && shown.length <= 14, 'about ten rows')
  assert.equal(stdout.match(/^  ok {6}/gm).length, 6)

  assert.match(stdout, /^  anthropic +refuses: \S+ \+1 +refuses: orphan-result +accepts$/m)
  const session = await Session.load(examples, example)
  const cut = session.rollingTokenWindow(6000)
  const [finding] = check(cut, 'openai-chat')
  const number = activeContext.messages.findIndex(({ id }) => id === cut.messages[2].id) + 1
  assert.ok(
    stdout.includes(`Refused with boundary 'message': ${finding.message}\n  #${number} ${finding.path}, and 2 more`),
  )
  assert.match(stdout, /^The copy is removed; --keep keeps it\.$/m)
  assert.deepEqual(readdirSync(temp), [])
  assert.deepEqual(textsUnder(examples), before, 'the example is unchanged')
})

test('--keep keeps the copy and lists its files; --all shows every message', async (t) => {
  const { code, stdout, temp } = await demo(t, ['--keep', '--all', '--max-tokens', '4000', '--count', '50'])
  assert.equal(code, 0)
  const { activeContext } = await Session.load(examples, example)
  const shown = checkTable(stdout, activeContext, { maxTokens: 4000, encoding: 'cl100k_base' })
  assert.equal(shown.length, activeContext.messageCount)
  const copy = copyIn(temp, example)
  assert.ok(stdout.includes(`Written to ${copy}\n`))
  const written = [...stdout.matchAll(/^ +[\d,]+ +bytes  (.+)$/gm)].map(([, name]) => name)
  assert.equal(written.length, 4, 'the context, one of each window, and session.json')
  for (const name of written) JSON.parse(readFileSync(join(copy, name), 'utf8'))
  const again = await Session.load(dirname(copy), example)
  const expected = activeContext.rollingTokenWindow(4000, 'cl100k_base', { boundary: 'turn' })
  assert.deepEqual(
    again.activeContext.messages.map(({ id }) => id),
    expected.messages.map(({ id }) => id),
  )
  assert.deepEqual(check(again.activeContext, 'anthropic'), [])
})

test('control sequences in a message never reach the terminal', async (t) => {
  const session = await smallSession(t)
  session.activeContext.append(Message.create('user', [ContentPart.text('\x1b[31mred\x07 \u202eback\r\n\x9b2J end')]))
  const call = ContentPart.toolUse('1', 'a\x1b]0;b\x07c', { x: '\u2028' })
  session.activeContext.append(Message.create('assistant', [call]))
  await session.save()
  const { code, stdout } = await demo(t, [session.sessionDir])
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u)
  assert.doesNotMatch(stdout, /[\u202a-\u202e\u2066-\u2069\u2028]/)
  assert.match(stdout, / red\ufffd? back /)
})

test("the options apply to a copy of the user's session", async (t) => {
  const session = await smallSession(t)
  const before = textsUnder(session.sessionDir)
  const args = ['--count', '7', '--max-tokens', '120', '--encoding', 'o200k_base', '--keep']
  const { code, stdout, temp } = await demo(t, [session.sessionDir, ...args])
  assert.equal(code, 0, stdout)
  checkTable(stdout, session.activeContext, { maxTokens: 120, encoding: 'o200k_base' })
  // Seven messages would begin with the assistant.
  assert.match(stdout, /^  sequence window of 7 messages +14 to 8 messages .* from: Number 6\.$/m)
  assert.deepEqual(textsUnder(session.sessionDir), before)
  const again = await Session.load(dirname(copyIn(temp, session.uuid)), session.uuid)
  assert.ok(again.activeContext.totalTokenCount('o200k_base') <= 120)
  assert.ok(again.activeContext.messageCount < 8)
})

test('windows that drop nothing write nothing', async (t) => {
  const session = await smallSession(t)
  const { code, stdout } = await demo(t, [session.sessionDir, '--count', '1000', '--max-tokens', '1000000'])
  assert.equal(code, 0)
  assert.match(stdout, /^Nothing was dropped, so nothing was written/m)
  assert.doesNotMatch(stdout, /^Refused/m)
  assert.match(stdout, /\nOK\n$/)
})

test("under npm a relative path is relative to the user's directory", async (t) => {
  const session = await smallSession(t)
  const env = { npm_lifecycle_event: 'demo', INIT_CWD: dirname(session.sessionDir) }
  const { code } = await demo(t, [session.uuid], { env })
  assert.equal(code, 0)
  const direct = await demo(t, [session.uuid], { cwd: dirname(session.sessionDir), env: { npm_lifecycle_event: '' } })
  assert.equal(direct.code, 0)
})

test('the error for a damaged session names its path, and the copy is removed', async (t) => {
  const damages = [
    ['session.json', (text) => text.slice(0, 40)],
    ['session.json', () => ''],
    ['session.json', (text) => text.replace(/"uuid": "[^"]+"/, '"uuid": "../../elsewhere"')],
    ['session.json', (text) => text.replace(/"active_context_id": "[^"]+"/, '"active_context_id": "20260102-gone"')],
    ['session.json', (text) => text.replace(/"active_context_id": "[^"]+"/, '"active_context_id": null')],
    ['<context>.json', (text) => text.slice(0, -200)],
    ['<context>.json', (text) => text.replace('"role": "user"', '"role": 7')],
  ]
  for (const [name, damage] of damages) {
    const session = await smallSession(t)
    const file = join(session.sessionDir, name.replace('<context>', session.activeContextId))
    const text = readFileSync(file, 'utf8')
    assert.notEqual(damage(text), text)
    writeFileSync(file, damage(text))
    const { code, stderr, stdout, temp } = await demo(t, [session.sessionDir])
    assert.equal(code, 1)
    assert.equal(stdout, '')
    const named = damage(text).includes('20260102-gone') ? join(session.sessionDir, '20260102-gone.json') : file
    const lines = complaints(stderr)
    assert.equal(lines.length, 1, stderr)
    assert.ok(lines[0].includes(named), `${lines[0]} names ${named}`)
    assert.deepEqual(readdirSync(temp), [])
  }
})

test('a damaged file of another context fails the check, which names it', async (t) => {
  const session = await smallSession(t)
  session.rollingSequenceWindow(3)
  await session.save()
  const [other] = (await session.listContexts()).filter((id) => id !== session.activeContextId)
  writeFileSync(join(session.sessionDir, `${other}.json`), '{"id": ')
  const { code, stdout } = await demo(t, [session.sessionDir])
  assert.equal(code, 1)
  assert.match(stdout, new RegExp(`^  FAILED  Session.check finds no damage in the files: .*${other}\\.json: `, 'm'))
  assert.match(stdout, /\n1 of the checks failed\n$/)
})

test('the checks find changes on disk', async (t) => {
  const session = await smallSession(t)
  const { sessionDir } = session
  const options = { maxTokens: 10_000, encoding: 'cl100k_base' }
  const original = await readSessionFiles(sessionDir)
  const snapshot = ({ id, messages, totalTokenCount }) => ({
    id,
    messages,
    tokens: totalTokenCount.call(session.activeContext),
  })
  const before = snapshot(session.activeContext)
  const report = session.activeContext.planSequenceWindow(5)
  session.rollingSequenceWindow(5)
  const steps = [{ report, before, after: snapshot(session.activeContext) }]
  await session.save()
  const failures = async () => {
    const loaded = await Session.load(dirname(sessionDir), session.uuid)
    const files = await readSessionFiles(sessionDir)
    const run = { Session, session, loaded, steps, options, original, originalNow: original, files }
    const failed = []
    for (const [index, [, checkOf]] of checksOf(run).entries()) {
      try {
        await checkOf()
      } catch (error) {
        failed.push(index)
        assert.equal(error.name, 'AssertionError')
      }
    }
    return failed
  }
  assert.deepEqual(await failures(), [])

  const edit = async (name, change) => {
    const file = join(sessionDir, name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, change(text))
    const found = await failures()
    writeFileSync(file, text)
    return found
  }
  const active = `${session.activeContextId}.json`
  assert.deepEqual(await edit(active, (text) => text.replace('Number 9.', 'Number nine and more.')), [0, 1, 2])
  const reversed = (text) => {
    const dict = JSON.parse(text)
    return JSON.stringify({ ...dict, messages: [...dict.messages.slice(0, 2), ...dict.messages.slice(2).reverse()] })
  }
  assert.ok((await edit(active, reversed)).includes(1))
  assert.deepEqual(await edit(`${before.id}.json`, (text) => text.replace('Number 0.', 'Number 0!')), [3])
  assert.deepEqual(await edit('session.json', (text) => text.replace('"is_active": false', '"is_active": true')), [0])
  writeFileSync(join(sessionDir, 'other.json'), '{}')
  assert.ok((await failures()).includes(5))
})

test('the columns are aligned at any width and in any language', async (t) => {
  const session = await smallSession(t)
  for (const text of [
    '日本語のテキスト '.repeat(20),
    '👩‍👩‍👧‍👦👍🏽 '.repeat(40),
    'a\u0301'.repeat(200),
    'مرحبا '.repeat(50),
  ]) {
    session.activeContext.append(Message.create('user', [ContentPart.text(text)]))
  }
  await session.save()
  for (const width of [80, 100, 200]) {
    const { stdout } = await demo(t, [session.sessionDir, '--all'], { env: { COLUMNS: String(width) } })
    const lines = stdout.split('\n')
    const heading = lines.findIndex((line) => /^ *#  role /.test(line))
    const rows = lines.slice(heading + 1, heading + 19)
    const end = lines[heading].indexOf('  message')
    for (const row of rows) {
      assert.ok(stringWidth(row) <= width, `${row} fits ${width} columns`)
      assert.match(row.slice(0, end), /[\d,]$/, 'numbers are aligned with the end of their heading')
    }
  }
})

test('text for a terminal is one line without control sequences', () => {
  assert.equal(toLine('  a\r\n\tb \u2029 c  '), 'a b c')
  assert.equal(toLine('a\x00\ud83d\u202eb'), 'a\ufffd\ufffdb')
  assert.equal(toLine('\x1b[1mbold\x1b[0m'), 'bold')
  assert.ok(toLine('x'.repeat(1_000_000)).length < 5000)
  const rows = [
    ['name', 'number', 'text'],
    ['日本語', 1234, 'long enough to be cut'],
    ['a', 5, 'short'],
  ]
  assert.deepEqual(toColumns(rows, 30, [4]), [
    'name  number  text',
    '日…    1,234  long enough to …',
    'a          5  short',
  ])
})
