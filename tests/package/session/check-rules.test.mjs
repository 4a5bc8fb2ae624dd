// Session.check and Session.repair: a session that breaks each rule.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { bytes, healthy, problems } from '../support/healthy.mjs'
import { root } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

/**
 * Ways to break a session, one for each rule:
 * - `damage(session)`; `file`, by name of the fixture; `field`, `line`, `column` of the finding;
 * - `load`: the class of the error on loading, if it cannot be loaded;
 * - `repairs`: whether a repair repairs it. `after(session)` checks the result.
 */
const CASES = {
  'missing-session-file': {
    damage: ({ storage, sessionPath }) => storage.files.delete(sessionPath),
    file: 'sessionPath',
    load: 'SessionNotFoundError',
    repairs: true,
    after: async ({ load, active, uuid }) => {
      const { rawDict } = await load()
      const id = active.split('/').at(-1).slice(0, -5)
      const made = { uuid, active_context_id: id, auto_approve_tools: [], state_data: {}, is_active: false }
      assert.deepEqual(rawDict, made, 'of the newest context')
    },
  },
  'empty-file': {
    damage: ({ storage, active }) => storage.put(active, ''),
    file: 'active',
    line: 1,
    column: 1,
    load: 'CorruptSessionError',
  },
  'nul-bytes': {
    damage: ({ storage, active }) => storage.files.get(active).fill(0),
    file: 'active',
    line: 1,
    column: 1,
    load: 'CorruptSessionError',
  },
  'torn-file': {
    damage: ({ cut, active }) => cut(active, 2500),
    file: 'active',
    load: 'CorruptSessionError',
    repairs: true,
    after: async ({ load, wasActive }) => {
      const { activeContext } = await load()
      assert.ok(activeContext.messageCount >= 3)
      assert.deepEqual(activeContext.messages, wasActive.messages.slice(0, activeContext.messageCount))
      assert.deepEqual(activeContext.systemPromptMessage, wasActive.messages[0], 'its class identifies it')
      assert.deepEqual(activeContext.toolDefinitionsMessage, wasActive.messages[1])
      activeContext.append(text('goes on'))
    },
  },
  'non-finite-number': {
    damage: ({ replace, active }) => replace(active, '"content_map": {}', '"content_map": {},\n  "x": -Infinity'),
    file: 'active',
    load: 'CorruptSessionError',
  },
  'not-json': {
    damage: ({ replace, active }) => replace(active, '"messages": [', '"messages": [,'),
    file: 'active',
    line: 2,
    column: 16,
    load: 'CorruptSessionError',
  },
  'wrong-shape': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.messages[3].content = 'text')),
    file: 'active',
    field: 'messages[3].content',
    load: 'CorruptSessionError',
  },
  'uuid-mismatch': {
    damage: ({ change, sessionPath }) => change(sessionPath, (dict) => void (dict.uuid = 'other')),
    file: 'sessionPath',
    field: 'uuid',
    line: 2,
    column: 11,
    load: 'CorruptSessionError',
    repairs: true,
  },
  'id-mismatch': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.id = '../x')),
    file: 'active',
    field: 'id',
    load: 'CorruptSessionError',
    repairs: true,
  },
  'dangling-active-context': {
    damage: ({ change, sessionPath }) => change(sessionPath, (dict) => void (dict.active_context_id = 'gone')),
    file: 'sessionPath',
    field: 'active_context_id',
    load: 'ContextNotFoundError',
    repairs: true,
    after: async ({ load, active }) => assert.ok(active.endsWith(`/${(await load()).activeContextId}.json`)),
  },
  'dangling-child': {
    damage: ({ change, active }) => change(active, (dict) => void dict.children.push('gone')),
    file: 'active',
    field: 'children[0]',
    repairs: true,
  },
  'dangling-origin': {
    damage: ({ change, first }) => change(first, (dict) => void (dict.origin_context_id = 'gone')),
    file: 'first',
    field: 'origin_context_id',
    severity: 'info',
  },
  'anchor-out-of-range': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points.at(-1)[1] = 99)),
    file: 'active',
    field: /^anchor_points\[\d\]\[1\]$/,
    repairs: true,
    after: async ({ load, wasActive }) => {
      assert.deepEqual((await load()).activeContext.anchorPoints, wasActive.anchorPoints)
    },
  },
  'anchors-not-ascending': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points[0][1] = 3)),
    file: 'active',
    field: 'anchor_points[1][1]',
  },
  'duplicate-anchor': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.anchor_points[1][0] = 'system_prompt')),
    file: 'active',
    field: 'anchor_points[1][0]',
  },
  'counter-lags': {
    damage: ({ change, active }) => change(active, (dict) => void (dict._mutation_counter = 2)),
    file: 'active',
    field: '_mutation_counter',
    repairs: true,
    after: async ({ load, wasActive }) => assert.deepEqual((await load()).activeContext.rawDict, wasActive.rawDict),
  },
  'duplicate-message-id': {
    damage: ({ change, active }) => change(active, ({ messages }) => void (messages[3].id = messages[2].id)),
    file: 'active',
    field: 'messages[3].id',
  },
  'duplicate-sequence-number': {
    damage: ({ change, active }) =>
      change(active, ({ messages }) => void (messages[3]._sequence_number = messages[2]._sequence_number)),
    file: 'active',
    field: 'messages[3]._sequence_number',
  },
  'dangling-special-message': {
    damage: ({ change, active }) => change(active, (dict) => void (dict.system_prompt_message_id = 'gone')),
    file: 'active',
    field: 'system_prompt_message_id',
    repairs: true,
  },
  'misplaced-special-message': {
    damage: ({ change, active }) =>
      change(active, (dict) => void (dict.system_prompt_message_id = dict.messages.at(-1).id)),
    file: 'active',
    field: 'system_prompt_message_id',
  },
  'call-without-result': {
    // A call is pending until the assistant speaks again.
    damage: ({ change, active }) =>
      change(active, ({ messages }) => {
        messages.at(-2).content = []
        messages.at(-1).role = 'assistant'
      }),
    file: 'active',
    field: /^messages\[\d\]\.content\[0\]\.call_id$/,
  },
  'result-without-call': {
    damage: ({ change, active }) => change(active, ({ messages }) => void (messages.at(-3).content = [])),
    file: 'active',
    field: /^messages\[\d\]\.content\[0\]\.call_id$/,
  },
  'lone-surrogate': {
    damage: ({ replace, active }) => replace(active, '"text": "two"', '"text": "t\\ud83dwo"'),
    file: 'active',
    field: 'messages[2].content[0].text',
    repairs: true,
    after: async ({ load }) => assert.equal((await load()).activeContext.messages[2].content[0].text, 't\ufffdwo'),
  },
  'duplicate-key': {
    damage: ({ replace, active }) => replace(active, '"text": "two"', '"text": "first",\n          "text": "last"'),
    file: 'active',
    field: 'messages[2].content[0].text',
    repairs: true,
    after: async ({ load }) => assert.equal((await load()).activeContext.messages[2].content[0].text, 'last'),
  },
  'byte-order-mark': {
    damage: ({ storage, active }) => storage.put(active, `\ufeff${storage.text(active)}`),
    file: 'active',
    line: 1,
    column: 1,
    repairs: true,
  },
  'leftover-file': {
    damage: ({ storage, leftover }) => storage.put(leftover, '{"messages": [{"id'),
    file: 'leftover',
    repairs: true,
    isRemoved: true,
  },
  'kept-copy': {
    damage: ({ storage, copy }) => storage.put(copy, '{'),
    file: 'copy',
    severity: 'info',
  },
  'other-file': {
    damage: ({ storage, other }) => storage.put(other, 'x'),
    file: 'other',
    severity: 'info',
  },
}

for (const [
  rule,
  { damage, file, load: loads, repairs = false, after, isRemoved, severity, ...place },
] of Object.entries(CASES)) {
  test(`${rule}: reported, loaded as documented${repairs ? ', repaired' : ''}`, async () => {
    const fixture = await healthy()
    const { storage, check, repair, load: open } = fixture
    Object.assign(fixture, {
      wasActive: fixture.session.activeContext,
      leftover: fixture.path('.session.json.4711.0b9f7c1a-0000-4000-8000-000000000000.tmp'),
      copy: fixture.path('session.json.20260102T030405.000006.bak'),
      other: fixture.path('notes.txt'),
    })
    damage(fixture)
    const before = bytes(storage)
    storage.takeCalls()
    const { ok, findings } = await check()
    assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
    assert.deepEqual(bytes(storage), before)
    assert.deepEqual(
      findings.map((finding) => finding.rule),
      [rule],
    )
    const [finding] = findings
    assert.equal(finding.path, fixture[file])
    assert.equal(finding.severity, severity ?? (loads === undefined ? 'warning' : 'error'))
    assert.equal(ok, severity === 'info')
    assert.equal(finding.repairable, repairs)
    assert.ok(finding.message.length > 20 && !/undefined|\[object/.test(finding.message), finding.message)
    for (const [key, expected] of Object.entries(place)) {
      if (expected instanceof RegExp) assert.match(finding[key], expected)
      else assert.equal(finding[key], expected, key)
    }

    if (loads === undefined) await open()
    else {
      const error = await refused(open, loads)
      if (loads === 'CorruptSessionError') {
        assert.deepEqual([error.path, error.line, error.column], [finding.path, finding.line, finding.column])
        assert.equal(error.field, finding.field ?? null)
      }
    }
    assert.deepEqual(bytes(storage), before)

    const { actions, check: left } = await repair()
    const now = bytes(storage)
    if (!repairs) {
      assert.deepEqual(actions, [])
      assert.deepEqual(now, before)
      assert.deepEqual(left, { ok, findings })
      return
    }
    assert.deepEqual(
      actions.map((action) => [action.rule, action.path]),
      [[rule, fixture[file]]],
    )
    assert.ok(actions[0].message.length > 10)
    assert.deepEqual(problems(left), [])
    assert.equal(left.ok, true)
    assert.deepEqual(await check(), left)
    const { copy } = actions[0]
    if (isRemoved) assert.equal(now.has(fixture[file]), false)
    else assert.notEqual(now.get(fixture[file]), before.get(fixture[file]))
    assert.equal(copy !== undefined, before.has(fixture[file]) && !isRemoved)
    if (copy !== undefined) {
      assert.match(copy, /\.json\.\d{8}T\d{6}\.\d{6}\.bak$/)
      assert.equal(now.get(copy), before.get(fixture[file]))
    }
    for (const [path, data] of before) if (path !== fixture[file]) assert.equal(now.get(path), data, path)
    assert.equal(
      now.size,
      before.size + (copy === undefined ? 0 : 1) + (rule === 'missing-session-file' ? 1 : 0) - (isRemoved ? 1 : 0),
    )
    const again = await open()
    assert.ok(!(await again.listContexts()).some((id) => id.includes('bak')))
    await after?.(fixture)

    storage.takeCalls()
    assert.deepEqual((await repair()).actions, [])
    assert.ok(storage.takeCalls().every((call) => /^(read|list) /.test(call)))
  })
}

test('the table lists every rule of the documentation', () => {
  const documented = readFileSync(join(root, 'docs', 'damage.md'), 'utf8')
  const rules = [...documented.matchAll(/^\| `([a-z-]+)` \| (?:error|warning|info) \|/gm)]
    .map(([, rule]) => rule)
    .sort()
  // They need a failing storage, a limit, and `checkAll`, and have tests of their own.
  const elsewhere = ['unreadable-file', 'file-too-large', 'unnamed-context']
  assert.deepEqual([...Object.keys(CASES), ...elsewhere].sort(), rules)
})
