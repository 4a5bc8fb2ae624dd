// check(context, provider): each rule where it holds and where it does not, and conversations that every provider accepts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load, root } from '../support/installed.mjs'
import { fc, fields, forAll, isUsual, list, sometimes } from '../support/property.mjs'
import { NO_STRINGS, revoked } from '../support/values.mjs'

const { check, Context, ContentPart, DisposedError, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

const ALL = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']
const but = (...left) => ALL.filter((provider) => !left.includes(provider))

/** A context of messages as a file may hold them. */
const context = (messages) => Context.fromDict({ ...Context.create().rawDict, messages })

const text = (said) => ({ type: 'text', text: said })
const thinking = (fields) => ({ type: 'thinking', text: 'Hm.', ...fields })
const call = (id, fields) => ({ type: 'tool_use', call_id: id, name: 'look', arguments: '{}', ...fields })
const result = (id) => ({ type: 'tool_result', call_id: id, content: 'seen' })
const media = (type, source) => ({ type, source })

const user = (...content) => ({ role: 'user', content })
const assistant = (...content) => ({ role: 'assistant', content })
const results = (...ids) => ({ role: 'tool_result', content: ids.map(result) })
const prompt = user(text('Look!'))
const answer = assistant(text('There.'))

const long = 'x'.repeat(65)
const video = media('video', { type: 'url', url: 'https://x.org/y.mp4' })
const bitmap = media('image', { type: 'base64', data: 'AA==', media_type: 'image/bmp' })

/** For each rule: the conversation, the providers that reject it, the path of the finding, and the repaired conversation. */
const CASES = {
  'no-messages': [{ by: but('openai-responses'), path: 'messages', bad: [], good: [prompt] }],
  'unknown-role': [
    { by: ALL, path: 'messages[0].role', bad: [{ role: 'robot', content: [text('Hi')] }], good: [user(text('Hi'))] },
    { by: ALL, path: 'messages[0].role', bad: [{ content: [text('Hi')] }], good: [user(text('Hi'))] },
  ],
  'wrong-first-role': [
    { by: ['anthropic'], path: 'messages[0].role', bad: [answer, prompt], good: [prompt, answer, prompt] },
    {
      by: ['anthropic', 'gemini'],
      path: 'messages[0].role',
      bad: [assistant(call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
    {
      by: ['anthropic', 'gemini'],
      path: 'messages[1].role',
      bad: [{ role: 'system', content: [text('Be brief.')] }, assistant(call('a')), results('a')],
      good: [{ role: 'system', content: [text('Be brief.')] }, prompt, assistant(call('a')), results('a')],
    },
  ],
  'repeated-role': [
    {
      by: ['gemini'],
      path: 'messages[2].role',
      bad: [prompt, assistant(text('I look.')), assistant(call('a')), results('a')],
      good: [prompt, assistant(text('I look.'), call('a')), results('a'), answer, answer, prompt, prompt],
    },
  ],
  'misplaced-call': [
    {
      by: ALL,
      path: 'messages[0].content[1]',
      bad: [user(text('Look!'), call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'missing-result': [
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), call('b')), results('a')],
      good: [prompt, assistant(call('a'), call('b')), results('a'), results('b')],
    },
    {
      by: ALL,
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('a')), prompt, answer],
      good: [prompt, assistant(call('a')), results('a'), prompt, answer],
    },
  ],
  'orphan-result': [
    {
      by: ALL,
      path: 'messages[1].content[0].call_id',
      bad: [prompt, results('a'), answer],
      good: [prompt, assistant(call('a')), results('a'), answer],
    },
    {
      by: ALL,
      path: 'messages[0].content[1].call_id',
      bad: [user(text('Look!'), result('a')), answer],
      good: [prompt, answer],
    },
  ],
  'misplaced-result': [
    {
      by: but('openai-responses'),
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), user(text('Hurry!')), results('a')],
      good: [prompt, assistant(call('a')), results('a'), user(text('Hurry!'))],
    },
    {
      by: but('openai-responses'),
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), answer, results('a')],
      good: [prompt, assistant(call('a')), results('a'), answer],
    },
    {
      by: ['openai-chat'],
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a'), call('b')), user(result('a'), text('so far')), results('b')],
      good: [prompt, assistant(call('a'), call('b')), results('a'), user(result('b'), text('so far'))],
    },
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), result('a'))],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'duplicate-result': [
    {
      by: ALL,
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), results('a'), results('a')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'duplicate-call-id': [
    {
      by: ALL,
      path: 'messages[1].content[1].call_id',
      bad: [prompt, assistant(call('a'), call('a')), results('a', 'a')],
      good: [prompt, assistant(call('a'), call('b')), results('a', 'b')],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[3].content[0].call_id',
      bad: [prompt, assistant(call('a')), results('a'), assistant(call('a')), results('a')],
      good: [prompt, assistant(call('a')), results('a'), assistant(call('b')), results('b')],
    },
  ],
  'invalid-call-id': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('look:0')), results('look:0')],
      good: [prompt, assistant(call('look_0-A')), results('look_0-A')],
    },
    {
      by: ['openai-responses'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call(long)), results(long)],
      good: [prompt, assistant(call(long.slice(1))), results(long.slice(1))],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[1].content[0].call_id',
      bad: [prompt, assistant(call('')), results('')],
      good: [prompt, assistant(call('a')), results('a')],
    },
  ],
  'invalid-name': [
    {
      by: ALL,
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: 'look up' })), results('a')],
      good: [prompt, assistant(call('a', { name: 'look_Up-2' })), results('a')],
    },
    {
      by: but('gemini'),
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: 'eyes.look' })), results('a')],
      good: [prompt, assistant(call('a', { name: 'eyes_look' })), results('a')],
    },
    {
      by: ['openai-chat'],
      path: 'messages[1].content[0].name',
      bad: [prompt, assistant(call('a', { name: long })), results('a')],
      good: [prompt, assistant(call('a', { name: long.slice(1) })), results('a')],
    },
  ],
  'invalid-arguments': ['{"a": ', '[1]', '"a"', '', 'null'].map((args) => ({
    by: ['anthropic', 'gemini'],
    path: 'messages[1].content[0].arguments',
    bad: [prompt, assistant(call('a', { arguments: args })), results('a')],
    good: [prompt, assistant(call('a', { arguments: '{"a": [1, null]}' })), results('a')],
  })),
  'invalid-part': [
    { by: ALL, path: 'messages[0].content[0].text', bad: [user({ type: 'text' })], good: [prompt] },
    { by: ALL, path: 'messages[0].content[0].source.type', bad: [user({ type: 'image' }, text('?'))], good: [prompt] },
    {
      by: ALL,
      path: 'messages[1].content[0].arguments',
      bad: [prompt, assistant(call('a', { arguments: { a: 1 } })), results()],
      good: [prompt, assistant(call('a', { arguments: '{"a":1}' })), results('a')],
      others: true,
    },
  ],
  'unknown-part': [
    { by: ALL, path: 'messages[0].content[0].type', bad: [user({ type: 'sticker' }, text('?'))], good: [prompt] },
  ],
  'unsupported-media': [
    { by: but('gemini'), path: 'messages[0].content[0].source', bad: [user(video)], good: [prompt] },
    {
      by: ['anthropic'],
      path: 'messages[0].content[0].source',
      bad: [user(bitmap)],
      good: [user(media('image', { ...bitmap.source, media_type: 'image/png' }))],
    },
    {
      by: ['anthropic', 'openai-responses'],
      path: 'messages[0].content[0].source',
      bad: [user(media('audio', { type: 'base64', data: 'AA==', media_type: 'audio/wav' }))],
      good: [prompt],
    },
    {
      by: ['openai-chat'],
      path: 'messages[0].content[0].source',
      bad: [user(media('pdf', { type: 'url', url: 'https://x.org/y.pdf' }))],
      good: [user(media('pdf', { type: 'base64', data: 'AA==', media_type: 'application/pdf' }))],
    },
    {
      by: but('gemini'),
      path: 'messages[1].content[0].source',
      bad: [prompt, assistant(media('image', { type: 'url', url: 'https://x.org/y.png' }))],
      good: [user(media('image', { type: 'url', url: 'https://x.org/y.png' }))],
    },
    {
      by: ALL,
      path: 'messages[1].content[0].source',
      bad: [prompt, { role: 'system', content: [media('image', { type: 'url', url: 'https://x.org/y.png' })] }],
      good: [prompt, { role: 'system', content: [text('Be brief.')] }],
    },
  ],
  'empty-content': [
    { by: ['anthropic', 'gemini'], path: 'messages[0].content[0].text', bad: [user(text(''))], good: [prompt] },
    { by: ['anthropic'], path: 'messages[0].content[0].text', bad: [user(text(' \n'))], good: [prompt] },
    {
      by: but('openai-responses'),
      path: 'messages[1].content',
      bad: [prompt, assistant(), prompt],
      good: [prompt, answer, prompt],
    },
    { by: but('openai-responses'), path: 'messages[0].content', bad: [{ role: 'user' }, prompt], good: [prompt] },
    { by: ['openai-chat', 'gemini'], path: 'messages[1].content', bad: [prompt, assistant()], good: [prompt] },
  ],
  'thinking-alone': [
    {
      by: ['openai-chat', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking()), prompt],
      good: [prompt, assistant(thinking(), text('There.')), prompt],
    },
    {
      by: ['openai-chat', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking({ signature: 's' })), prompt],
      good: [prompt, assistant(thinking({ signature: 's' }), text('There.')), prompt],
    },
    {
      by: ['openai-chat', 'openai-responses', 'anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(thinking({ id: 'rs_1' })), prompt],
      good: [prompt, assistant(thinking({ id: 'rs_1' }), text('There.')), prompt],
    },
    {
      by: ['anthropic'],
      path: 'messages[1].content',
      bad: [prompt, assistant(text('There.'), thinking({ signature: 's' }))],
      good: [prompt, assistant(text('There.'), thinking({ signature: 's' })), answer],
    },
    {
      by: but('openai-responses'),
      path: 'messages[1].content',
      bad: [prompt, assistant({ type: 'thinking', text: '' })],
      good: [prompt, answer],
    },
  ],
  'thinking-removed': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].signature',
      bad: [prompt, assistant(thinking(), call('a')), results('a')],
      good: [prompt, assistant(thinking({ signature: 's' }), call('a')), results('a')],
    },
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].signature',
      bad: [prompt, assistant(thinking(), call('a')), results('a'), assistant(call('b')), results('b')],
      // In a finished turn no provider requires it.
      good: [
        prompt,
        assistant(thinking(), call('a')),
        results('a'),
        answer,
        prompt,
        assistant(call('b')),
        results('b'),
      ],
    },
    {
      by: ['gemini'],
      path: 'messages[3].content[0].thought_signature',
      bad: [
        ...[prompt, assistant(call('a', { thought_signature: 'g' }), call('b')), results('a', 'b')],
        ...[assistant(call('c')), results('c')],
      ],
      good: [
        ...[prompt, assistant(call('a', { thought_signature: 'g' }), call('b')), results('a', 'b')],
        ...[assistant(call('c', { thought_signature: 'h' })), results('c')],
      ],
    },
  ],
  'trailing-whitespace': [
    {
      by: ['anthropic'],
      path: 'messages[1].content[0].text',
      bad: [prompt, assistant(text('There.\n'))],
      good: [prompt, assistant(text('There.\n')), prompt],
    },
  ],
}

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
