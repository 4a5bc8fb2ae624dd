// `npm run demo`: what it prints, checks and leaves behind, and how it ends.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { checksOf } from '../../../scripts/demo/checks.mjs'
import { firstDifference } from '../../../scripts/demo/difference.mjs'
import { fingerprint } from '../../../scripts/demo/session-files.mjs'
import { cut, displayWidth, fit, toLine } from '../../../scripts/demo/terminal-text.mjs'
import { account, applyWindows } from '../../../scripts/demo/windows.mjs'
import { load, root } from '../support/installed.mjs'
import { tempDir, textsUnder } from '../support/files.mjs'

const { ContentPart, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } = await load('peteos-session')

const examples = join(root, 'examples', 'demo-session')
const [example] = readdirSync(examples)

/** Runs the demo; `temp` is where it puts its copies. Resolves to { code, stdout, stderr, temp }. */
async function demo(t, args, { cwd = root, env = {} } = {}) {
  const temp = tempDir(t)
  const variables = { TMPDIR: temp, TEMP: temp, TMP: temp, COLUMNS: '100', ...env }
  const child = spawn(process.execPath, [join(root, 'scripts', 'demo.mjs'), ...args], {
    cwd,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (output[name] += text))
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, temp, ...output }
}

/** The lines of standard error that do not come from the set-up. */
function complaints(stderr) {
  return stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('[set-up]'))
}

const ROW = /^ *(\d+)  (\S+) +(\S.*?) +([\d,]+) +([\d,]+)(?:  (count|tokens))?(?: |$)/

/** The rows of the table as { number, role, parts, tokens, total, cutBy }. */
function rowsOf(stdout) {
  const lines = stdout.split('\n')
  const start = lines.findIndex((line) => /^ *#  role /.test(line)) + 1
  assert.ok(start > 0, 'there is a table')
  return lines.slice(start, lines.indexOf('', start)).map((line) => {
    const [, number, role, parts, tokens, total, cutBy = ''] = ROW.exec(line) ?? assert.fail(`no row: ${line}`)
    return { number: int(number), role, parts, tokens: int(tokens), total: int(total), cutBy }
  })
}

function int(text) {
  return Number(text.replaceAll(',', ''))
}

/** Checks the table of a session, window by window, against what the package says. */
function checkTable(stdout, context, { count, maxTokens, encoding }) {
  const rows = rowsOf(stdout)
  const tokens = context.tokenCounts(encoding)
  const totals = tokens.map((_, index) => tokens.slice(0, index + 1).reduce((sum, one) => sum + one, 0))
  const byCount = context.planSequenceWindow(count).dropped
  const byTokens = context.planTokenWindow(maxTokens, encoding).dropped.filter((id) => !byCount.includes(id))
  assert.deepEqual(rows, context.messages.map((message, index) => ({
    number: index + 1,
    role: message.role,
    parts: rows[index]?.parts,
    tokens: tokens[index],
    total: totals[index],
    cutBy: byCount.includes(message.id) ? 'count' : byTokens.includes(message.id) ? 'tokens' : '',
  })))
  return { byCount, byTokens, total: totals.at(-1) ?? 0 }
}

/** The session directory that a run left behind. */
function copyIn(temp, uuid) {
  const [folder] = readdirSync(temp)
  return join(temp, folder, uuid)
}

/** A session of a few messages in a folder, with its options for the demo. */
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

test('the session of the demo is a long one that the Python package made', async () => {
  assert.deepEqual(readdirSync(examples), [example, 'README.md'])
  const session = await Session.load(examples, example)
  const { messages } = session.activeContext
  assert.ok(messages.length >= 240)
  const parts = messages.flatMap(({ content }) => content)
  const types = new Set(parts.map(({ type }) => type))
  assert.deepEqual([...types].sort(), ['image', 'text', 'thinking', 'tool', 'tool_result', 'tool_use'])
  const calls = messages.map(({ content }) => content.filter(({ type }) => type === 'tool_use').length)
  assert.ok(Math.max(...calls) > 1, 'parallel calls')
  const results = new Set(parts.filter(({ type }) => type === 'tool_result').map((part) => part.call_id))
  assert.ok(parts.every((part) => part.type !== 'tool_use' || results.has(part.call_id)), 'every call has its result')
  const texts = parts.map(({ text }) => text ?? '').join('')
  for (const script of ['Han', 'Hiragana', 'Arabic', 'Devanagari']) {
    assert.match(texts, new RegExp(`\\p{Script=${script}}`, 'u'))
  }
  const parent = await session.loadContext(session.activeContext.originContextId)
  assert.ok(parent.children.includes(session.activeContextId))
  assert.ok(session.autoApproveTools.length > 0 && session.state.list().length > 0)
})

test('a run without arguments shows the session of the demo, windows, saves, loads and checks it', async (t) => {
  const before = textsUnder(examples)
  const { code, stdout, temp } = await demo(t, [])
  assert.equal(code, 0)
  assert.match(stdout, /\nOK\n$/)
  const { activeContext } = await Session.load(examples, example)
  const options = { count: 120, maxTokens: 8000, encoding: 'cl100k_base' }
  const { byCount, byTokens } = checkTable(stdout, activeContext, options)
  assert.ok(byCount.length > 0 && byTokens.length > 0, 'both windows have something to show')
  assert.match(stdout, /^ +1  system +text /m)
  assert.match(stdout, /^ +2  tool +tool ×\d+ /m)
  assert.match(stdout, / thinking \+ tool_use \w+ /)
  assert.equal(stdout.match(/^  ok {6}/gm).length, 10)

  const written = [...stdout.matchAll(/^ +[\d,]+ bytes  (.+)$/gm)].map(([, path]) => path)
  assert.equal(written.length, 4, 'the context, one of each window, and session.json')
  for (const path of written) JSON.parse(readFileSync(path, 'utf8'))
  const copy = copyIn(temp, example)
  assert.ok(written.every((path) => dirname(path) === copy))
  const again = await Session.load(dirname(copy), example)
  const gone = new Set([...byCount, ...byTokens])
  const kept = activeContext.messages.map(({ id }) => id).filter((id) => !gone.has(id))
  assert.deepEqual(again.activeContext.messages.map(({ id }) => id), kept)
  assert.ok(again.activeContext.totalTokenCount() <= options.maxTokens)
  assert.deepEqual(textsUnder(examples), before, 'the example stays as it is')
})

test('what a message holds never reaches the terminal as a command', async (t) => {
  const session = await smallSession(t)
  session.activeContext.append(Message.create('user', [ContentPart.text('\x1b[31mred\x07 \u202eback\r\n\x9b2J end')]))
  const call = ContentPart.toolUse('1', 'a\x1b]0;b\x07c', { x: '\u2028' })
  session.activeContext.append(Message.create('assistant', [call]))
  session.state.create('\x1b[5mblink', 'x')
  await session.save()
  const { code, stdout } = await demo(t, [session.sessionDir])
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /[^\P{Cc}\n]/u)
  assert.doesNotMatch(stdout, /[\u202a-\u202e\u2066-\u2069\u2028]/)
  assert.match(stdout, / red\ufffd? back /)
})

test('a session of one\'s own is worked on in a copy, with the options given', async (t) => {
  const session = await smallSession(t)
  const before = textsUnder(session.sessionDir)
  const options = { count: 7, maxTokens: 120, encoding: 'o200k_base' }
  const args = ['--count', '7', '--max-tokens', '120', '--encoding', 'o200k_base']
  const { code, stdout, temp } = await demo(t, [session.sessionDir, ...args])
  assert.equal(code, 0, stdout)
  const { byCount, byTokens, total } = checkTable(stdout, session.activeContext, options)
  assert.equal(byCount.length, 5)
  assert.ok(byTokens.length > 0)
  assert.match(stdout, new RegExp(`14 messages, ${total} tokens of o200k_base`))
  assert.match(stdout, /^  kept {8}7 of 12, and 2 special$/m)
  assert.match(stdout, /^  first kept  #8 assistant: Number 5\.$/m)
  assert.deepEqual(textsUnder(session.sessionDir), before)
  const again = await Session.load(dirname(copyIn(temp, session.uuid)), session.uuid)
  assert.equal(again.activeContext.messages.length, 14 - byCount.length - byTokens.length)
})

test('windows that drop nothing write nothing; one too small for any message keeps the special ones', async (t) => {
  const session = await smallSession(t)
  const wide = await demo(t, [session.sessionDir, '--count', '1000', '--max-tokens', '1000000'])
  assert.equal(wide.code, 0)
  assert.match(wide.stdout, /Nothing was written/)
  assert.match(wide.stdout, /\nOK\n$/)
  const narrow = await demo(t, [session.sessionDir, '--count', '0', '--max-tokens', '0'])
  assert.equal(narrow.code, 0)
  assert.match(narrow.stdout, /^  kept {8}0 of 12, and 2 special$/m)
  assert.match(narrow.stdout, /\nOK\n$/)
})

test('under npm a relative path starts where the user is', async (t) => {
  const session = await smallSession(t)
  const env = { npm_lifecycle_event: 'demo', INIT_CWD: dirname(session.sessionDir) }
  const { code } = await demo(t, [session.uuid], { env })
  assert.equal(code, 0)
  const direct = await demo(t, [session.uuid], { cwd: dirname(session.sessionDir), env: { npm_lifecycle_event: '' } })
  assert.equal(direct.code, 0)
})

test('a damaged session is named with its path, and no copy stays', async (t) => {
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

test('a damaged file of another context fails the check, by name', async (t) => {
  const session = await smallSession(t)
  session.rollingSequenceWindow(3)
  await session.save()
  const [other] = (await session.listContexts()).filter((id) => id !== session.activeContextId)
  writeFileSync(join(session.sessionDir, `${other}.json`), '{"id": ')
  const { code, stdout } = await demo(t, [session.sessionDir])
  assert.equal(code, 1)
  assert.match(stdout, new RegExp(`^  FAILED  every file is whole JSON.*: ${other}\\.json: `, 'm'))
  assert.match(stdout, /\n1 of the checks failed\n$/)
})

test('what was changed on disk is found, and said where', async (t) => {
  const session = await smallSession(t)
  const { sessionDir } = session
  const encoding = 'cl100k_base'
  const original = await fingerprint(sessionDir)
  const start = account(session.activeContext, encoding)
  const outcomes = applyWindows(session, { count: 5, maxTokens: 10_000, encoding })
  await session.save()
  const failures = async () => {
    const loaded = await Session.load(dirname(sessionDir), session.uuid)
    const files = await fingerprint(sessionDir)
    const run = { session, loaded, start, outcomes, encoding, sessionDir, original, originalNow: original, files }
    const results = []
    for (const [, check] of checksOf(run)) results.push(await check())
    return results.filter((difference) => difference !== null)
  }
  assert.deepEqual(await failures(), [])

  const edit = async (id, change) => {
    const file = join(sessionDir, `${id}.json`)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, change(text))
    const found = await failures()
    writeFileSync(file, text)
    return found
  }
  const words = await edit(session.activeContextId, (text) => text.replace('Number 9.', 'Number nine and more.'))
  assert.match(words.join('\n'), /^message \S+: content\[0\]\.text is "Number nine and more\.", expected "Number 9\."/m)
  assert.match(words.join('\n'), /tokens after loading, \d+ before/)
  const order = await edit(session.activeContextId, (text) => {
    const dict = JSON.parse(text)
    return JSON.stringify({ ...dict, messages: [...dict.messages.slice(0, 2), ...dict.messages.slice(2).reverse()] })
  })
  assert.match(order.join('\n'), /^message ids\[2\] is "\S+", expected "\S+"$/m)
  const lost = await edit(start.context.id, (text) => text.replace('Number 0.', 'Number 0!'))
  assert.deepEqual(lost, ['messages[2].content[0].text is "Number 0!", expected "Number 0."'])
})

test('options that cannot be followed are one line and exit code 2', async (t) => {
  const empty = tempDir(t)
  const nested = tempDir(t)
  mkdirSync(join(nested, 'inside'))
  writeFileSync(join(nested, 'inside', 'session.json'), '{}')
  const cases = [
    [['--count', '-1'], /--count/],
    [['--count=-1'], /--count has to be a whole number from 0 up, not '-1'/],
    [['--count', '1.5'], /--count/],
    [['--count', 'many'], /'many'/],
    [['--count', ''], /--count/],
    [['--count', '99999999999999999999'], /--count/],
    [['--max-tokens', '1e3'], /--max-tokens/],
    [['--max-tokens'], /--max-tokens/],
    [['--encoding', 'latin1'], /'latin1' is not known; known encodings: .*o200k_base/],
    [['--frobnicate'], /--frobnicate/],
    [['one', 'two'], /one session directory/],
    [[join(empty, 'nowhere')], /nowhere is no directory/],
    [[join(root, 'package.json')], /package\.json is no directory/],
    [[empty], /holds no session\.json/],
    [[nested], /perhaps \S+inside is meant/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr, temp } = await demo(t, args)
    assert.equal(code, 2, `${args}: ${stderr}`)
    assert.equal(stdout, '')
    const lines = complaints(stderr)
    assert.equal(lines.length, 1, stderr)
    assert.match(lines[0], message)
    assert.deepEqual(readdirSync(temp), [])
  }
})

test('--help says what there is', async (t) => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout, stderr } = await demo(t, [flag])
    assert.equal(code, 0)
    assert.equal(stderr, '')
    for (const word of ['sessionDir', '--count', '--max-tokens', '--encoding']) assert.ok(stdout.includes(word), word)
  }
})

test('the columns stand below each other, at any width and in any language', async (t) => {
  const session = await smallSession(t)
  for (const text of ['日本語のテキスト '.repeat(20), '👩‍👩‍👧‍👦👍🏽 '.repeat(40), 'a\u0301'.repeat(200), 'مرحبا '.repeat(50)]) {
    session.activeContext.append(Message.create('user', [ContentPart.text(text)]))
  }
  await session.save()
  for (const width of [80, 100, 200]) {
    const { stdout } = await demo(t, [session.sessionDir], { env: { COLUMNS: String(width) } })
    const lines = stdout.split('\n')
    const heading = lines.findIndex((line) => /^ *#  role /.test(line))
    const rows = lines.slice(heading + 1, lines.indexOf('', heading))
    assert.equal(rows.length, 18)
    const end = lines[heading].indexOf('  cut by')
    for (const row of rows) {
      assert.ok(displayWidth(row) <= width, `${row} fits ${width} columns`)
      assert.match(row.slice(0, end), /[\d,]$/, 'the running total ends where its heading does')
    }
  }
})

test('text for a terminal', () => {
  const widths = {
    ...{ 1: 1, '©': 1, 'e\u0301': 1, 日本語: 6, 한국어: 6, 'Ａ': 2, 'ｱ': 1 },
    ...{ '👩‍👩‍👧‍👦': 2, '👍🏽': 2, '🏳️‍🌈': 2, '☕️': 2, '1️⃣': 2 },
  }
  for (const [text, width] of Object.entries(widths)) assert.equal(displayWidth(text), width, text)
  assert.equal(cut('日本語', 6), '日本語')
  assert.equal(cut('日本語', 5), '日本…')
  assert.equal(cut('日本語', 4), '日…')
  assert.equal(cut('abc', 0), '')
  assert.equal(fit('日本語', 4), '日… ')
  assert.equal(fit('a', 3), 'a  ')
  assert.equal(toLine('  a\r\n\tb \u2029 c  '), 'a b c')
  assert.equal(toLine('a\x00\ud83d\u202eb'), 'a\ufffd\ufffdb')
  assert.equal(toLine('\x1b[1mbold\x1b[0m'), 'bold')
  assert.ok(toLine('x'.repeat(1_000_000)).length < 5000)
})

test('the first difference of two values', () => {
  assert.equal(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), null)
  assert.equal(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }), 'a[1].b is 3, expected 2')
  assert.equal(firstDifference({ a: 1 }, {}), 'a is missing, expected 1')
  assert.equal(firstDifference({}, { a: 1 }), 'a is 1, expected nothing there')
  assert.equal(firstDifference([1], { 0: 1 }), 'the value is {"0":1}, expected [1]')
  assert.equal(firstDifference(null, {}), 'the value is {}, expected null')
})
