// check(context, provider): each rule where it holds and where it does not, and conversations that every provider accepts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load, root } from '../support/installed.mjs'
import { fc, fields, forAll, isUsual, list, sometimes } from '../support/property.mjs'
import {
  ALL,
  answer,
  assistant,
  CASES,
  call,
  context,
  media,
  prompt,
  result,
  results,
  text,
  thinking,
  user,
} from '../support/rule-cases.mjs'
import { NO_STRINGS, revoked } from '../support/values.mjs'

const { check, Context, ContentPart, DisposedError, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

for (const [rule, cases] of Object.entries(CASES)) {
  test(`${rule} is found for the providers that reject it, and for no others`, () => {
    for (const [index, { by, path, bad, good, others = false }] of cases.entries()) {
      for (const provider of ALL) {
        const about = `${rule} ${index} ${provider}`
        const found = check(context(bad), provider)
        const those = found.filter((finding) => finding.rule === rule)
        assert.deepEqual(
          those.map((finding) => finding.path),
          by.includes(provider) ? [path] : [],
          about,
        )
        if (by.includes(provider) && by.length === ALL.length && !others && rule !== 'misplaced-call') {
          assert.equal(found.length, 1, `${about}: ${JSON.stringify(found)}`)
        }
        for (const { message, fix } of those) {
          assert.match(message, /.{20}/, about)
          assert.match(fix, /^[A-Z].+\.$/, about)
        }
        if (by.includes(provider)) assert.deepEqual(check(context(good), provider), [], `${about}, repaired`)
      }
    }
  })
}

test('the table of the documentation and this test have the same rules for the same providers', () => {
  const documented = readFileSync(join(root, 'docs', 'provider-rules.md'), 'utf8')
  const rows = [...documented.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|/gm)]
  const table = Object.fromEntries(
    rows.map(([, rule, ...cells]) => [rule, ALL.filter((_, index) => cells[index].trim() !== '–')]),
  )
  const tested = Object.fromEntries(
    Object.entries(CASES).map(([rule, cases]) => [
      rule,
      ALL.filter((provider) => cases.some(({ by }) => by.includes(provider))),
    ]),
  )
  assert.deepEqual(table, tested)
})

test('every provider accepts ordinary conversations', () => {
  const step = [assistant(thinking(), text('I look.'), call('a'), call('b')), results('b', 'a'), answer]
  for (const messages of [
    [prompt],
    [prompt, answer],
    [prompt, answer, prompt, answer, prompt],
    [prompt, ...step],
    [prompt, assistant(call('a')), { role: 'tool', content: [result('a')] }],
    [prompt, assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
    [prompt, assistant(call('a')), user(result('a'), text('and?')), answer],
    [prompt, assistant(thinking(), text('There.')), prompt],
    [prompt, ...step, { role: 'system', content: [text('Be brief.')] }, prompt, answer],
    [prompt, ...step, prompt, assistant(call('c')), results('c'), assistant(call('d')), results('d'), answer],
    [user(media('image', { type: 'url', url: 'https://x.org/y.png' }), text('What is it?')), answer],
  ]) {
    for (const provider of ALL) assert.deepEqual(check(context(messages), provider), [], provider)
  }
})

test('special messages are not checked, but count in the paths of findings', () => {
  const special = Context.create({
    systemPromptMessage: SystemPromptMessage.create('Be careful.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'look' }]),
  })
  assert.deepEqual(check(special, 'openai-chat'), [])
  assert.deepEqual(check(special, 'openai-responses'), [])
  special.append({ role: 'user', content: [ContentPart.text('Look!')] })
  special.append({ role: 'assistant', content: [ContentPart.toolUse('a', 'look', {})] })
  for (const provider of ALL) {
    const found = check(special, provider)
    assert.deepEqual(
      found.map(({ rule, path }) => [rule, path]),
      [['missing-result', 'messages[3].content[0].call_id']],
    )
    assert.match(found[0].fix, /^Append/)
  }
  special.append({ role: 'tool_result', content: [ContentPart.toolResult('a', 'seen')] })
  for (const provider of ALL) assert.deepEqual(check(special, provider), [])
})

test('findings are frozen, sorted, and change nothing', () => {
  const messages = [results('z'), assistant(call('a b', { name: '', arguments: '' }), { type: 'sticker' })]
  const judged = context(messages)
  const before = JSON.stringify(judged)
  const found = check(judged, 'anthropic')
  assert.ok(Object.isFrozen(found) && found.every(Object.isFrozen))
  assert.deepEqual(
    found.map(({ rule, path }) => `${rule} ${path}`),
    [
      'orphan-result messages[0].content[0].call_id',
      'missing-result messages[1].content[0].call_id',
      'invalid-call-id messages[1].content[0].call_id',
      'invalid-name messages[1].content[0].name',
      'invalid-arguments messages[1].content[0].arguments',
      'unknown-part messages[1].content[1].type',
    ],
  )
  assert.deepEqual(check(judged, 'anthropic'), found)
  assert.equal(JSON.stringify(judged), before)
})

test('a value that is not a context, or not a provider, is refused', () => {
  const judged = context([prompt])
  for (const wrong of [undefined, null, {}, judged.rawDict, 'x', 5, [], revoked(), Object.create(Context.prototype)]) {
    refusedNow(() => check(wrong, 'gemini'), 'InvalidArgumentError', {
      argument: 'context',
      message: /^context: .*fromDict/,
    })
  }
  for (const wrong of [...NO_STRINGS, undefined]) {
    refusedNow(() => check(judged, wrong), 'InvalidArgumentError', { argument: 'provider' })
  }
  for (const wrong of ['', 'openai', 'Gemini', 'ai-sdk', '__proto__', '\ud83d']) {
    const message = /openai-chat, openai-responses, anthropic, gemini$/
    refusedNow(() => check(judged, wrong), 'InvalidArgumentError', { argument: 'provider', message }, wrong)
  }
  judged.free()
  assert.throws(() => check(judged, 'gemini'), DisposedError)
})

const junk = fc.constantFrom(
  null,
  true,
  0,
  -1.5,
  1e300,
  '',
  'x',
  '\ud83d',
  '{',
  [],
  [1],
  {},
  { type: 'text' },
  [{ type: 'text' }],
  '__proto__',
)
const kinds = fc.constantFrom(
  'text',
  'thinking',
  'redacted_thinking',
  'image',
  'video',
  'audio',
  'pdf',
  'tool_use',
  'tool_result',
  'tool',
  'sticker',
  '',
)
const keys = [
  'text',
  'call_id',
  'name',
  'arguments',
  'content',
  'signature',
  'thought_signature',
  'id',
  'data',
  'parameters',
]
const source = fc.record({
  type: fc.oneof(fc.constantFrom('url', 'base64'), junk),
  url: junk,
  data: junk,
  media_type: junk,
})
const oddPart = fields({
  type: kinds,
  source: sometimes(0.6, fc.oneof(junk, source)),
  ...Object.fromEntries(keys.map((key) => [key, sometimes(0.5, junk)])),
})
const oddMessage = fields({
  role: sometimes(0.9, fc.constantFrom('user', 'assistant', 'system', 'tool', 'tool_result', 'robot', '')),
  metadata: junk,
  content: sometimes(
    0.9,
    fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 9, arbitrary: list(0, 3, oddPart) }),
  ),
})

test('any context can be checked, and each finding names a rule and a path', async () => {
  let findings = 0
  await forAll(300, list(0, 7, oddMessage), (messages) => {
    const odd = context(messages)
    for (const provider of ALL) {
      for (const finding of check(odd, provider)) {
        findings++
        assert.deepEqual(Object.keys(finding), ['rule', 'path', 'message', 'fix'])
        assert.ok(finding.rule in CASES, finding.rule)
        assert.match(finding.path, /^messages(\[\d+\](\.\w+|\.content\[\d+\](\.\w+){0,2}))?$/)
      }
    }
  })
  assert.ok(!isUsual || findings > 1000, String(findings))
})
