// Steps that make room, summaries and policies, by example.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'

const { check, ContentPart, Context, MemoryStorage, Message, Session, summaryPrompt, SystemPromptMessage } =
  await load('peteos-session')

const LONG = 'a long result '.repeat(50)

/** A context of tool calls: each is `[name, arguments, result]` or a prompt. */
function contextOf(...rounds) {
  const context = Context.create({ systemPromptMessage: SystemPromptMessage.create('Be brief.') })
  rounds.forEach((round, index) => {
    if (typeof round === 'string') return context.append(Message.create('user', round))
    const [name, args, result, options] = round
    context.append(Message.create('assistant', [ContentPart.toolUse(`c${index}`, name, args)]))
    context.append(Message.create('tool_result', [ContentPart.toolResult(`c${index}`, result, options)]))
  })
  return context
}
const parts = (context, type) => context.messages.flatMap(({ content }) => content.filter((part) => part.type === type))
const results = (context) => parts(context, 'tool_result').map(({ content }) => content)
const CLEARED = '[old tool result cleared]'

test('clearToolResults clears all but the newest results', () => {
  const context = contextOf(
    'go',
    ['a', {}, LONG],
    ['b', {}, LONG],
    ['c', {}, LONG],
    ['d', {}, LONG],
    ['e', {}, 'short'],
  )
  assert.deepEqual(results(context.clearToolResults()), [CLEARED, CLEARED, LONG, LONG, 'short'])
  assert.deepEqual(results(context.clearToolResults({ keep: 1, placeholder: '-' })), ['-', '-', '-', '-', 'short'])
  assert.deepEqual(results(context.clearToolResults({ keep: 0 })).at(-1), 'short', 'a shorter text stays')
  assert.equal(context.clearToolResults({ keep: 5 }), null)
  assert.equal(context.clearToolResults({ clearAtLeast: 10_000 }), null)
  const { tokensBefore, tokensAfter } = context.planClearToolResults({ keep: 4 })
  assert.ok(context.clearToolResults({ keep: 4, clearAtLeast: tokensBefore - tokensAfter }))
  assert.equal(context.clearToolResults({ keep: 4, clearAtLeast: tokensBefore - tokensAfter + 1 }), null)
})

test('clearToolResults spares excluded tools, errors and pinned messages, which do not count as kept', () => {
  const context = contextOf(
    'go',
    ['memory', {}, LONG],
    ['b', {}, LONG, { isError: true }],
    ['c', {}, LONG],
    ['d', {}, LONG],
  )
  const pin = [context.messages.at(-3).id]
  const options = { keep: 0, exclude: ['memory'], keepErrors: true, pin }
  assert.deepEqual(results(context.clearToolResults(options)), [LONG, LONG, LONG, CLEARED])
  const [, failed] = parts(context.clearToolResults({ keep: 0 }), 'tool_result')
  assert.deepEqual([failed.content, failed.is_error], [CLEARED, true])
})

test('clearToolResults clears arguments too, and results with media', () => {
  const media = [
    ContentPart.text('x'),
    ContentPart.image({ type: 'base64', data: 'AAAA'.repeat(100), media_type: 'image/png' }),
  ]
  const context = contextOf('go', ['a', { path: 'x'.repeat(100) }, media])
  const cleared = context.clearToolResults({ keep: 0, inputs: true })
  assert.deepEqual(results(cleared), [CLEARED])
  assert.equal(parts(cleared, 'tool_use')[0].arguments, '{}')
  assert.notEqual(parts(context.clearToolResults({ keep: 0 }), 'tool_use')[0].arguments, '{}')
})

test('clearThinking keeps the newest turns, and what a provider needs of the current one', () => {
  const thought = (text, fields) => ({ ...ContentPart.thinking(text), ...fields })
  const context = Context.create()
  for (const turn of ['1', '2', '3']) {
    context.append(Message.create('user', turn))
    const redacted = { type: 'redacted_thinking', data: turn }
    context.append(
      Message.create('assistant', [
        thought(turn),
        thought(`signed ${turn}`, { signature: 'x' }),
        redacted,
        ContentPart.text('a'),
      ]),
    )
  }
  const left = (options) => {
    const cleared = context.clearThinking(options)
    return cleared === null
      ? null
      : [
          ...parts(cleared, 'thinking').map(({ text }) => text),
          ...parts(cleared, 'redacted_thinking').map(({ data }) => data),
        ].join()
  }
  assert.equal(left(), '3,signed 3,3')
  assert.equal(left({ keepTurns: 2 }), '2,signed 2,3,signed 3,2,3')
  assert.equal(left({ keepTurns: 0 }), 'signed 3,3')
  assert.equal(left({ keepTurns: 3 }), null)
  context.append(Message.create('user', '4'))
  context.append({ role: 'assistant', content: [thought('alone')] })
  context.append(Message.create('user', '5'))
  assert.equal(parts(context.clearThinking(), 'thinking')[0].text, 'alone', 'a message of nothing else stays')
})

test('clearMedia leaves notes with type and size', () => {
  const data = Buffer.alloc(300, 1).toString('base64')
  const image = ContentPart.image({ type: 'base64', data, media_type: 'image/png' })
  const context = Context.create()
  context.append(Message.create('user', [image, ContentPart.text('look'), image]))
  context.append(Message.create('assistant', [ContentPart.toolUse('c', 'shot', {})]))
  context.append(Message.create('tool_result', [ContentPart.toolResult('c', [ContentPart.text('a'), image])]))
  context.append(Message.create('user', [ContentPart.pdf({ type: 'url', url: 'https://example.com/a.pdf' })]))
  const cleared = context.clearMedia()
  const note = { type: 'text', text: '[image/png of 300 bytes left out]' }
  assert.deepEqual(cleared.messages[0].content, [note, ContentPart.text('look'), note])
  assert.deepEqual(cleared.messages[2].content[0].content, [ContentPart.text('a'), image])
  const all = context.clearMedia({ keep: 0 })
  assert.deepEqual(all.messages[2].content[0].content, [ContentPart.text('a'), note])
  assert.deepEqual(all.messages[3].content, [{ type: 'text', text: '[pdf at https://example.com/a.pdf left out]' }])
  assert.equal(context.clearMedia({ keep: 4 }), null)
})

test('elide keeps whole lines at both ends', () => {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index} of the log`)
  const context = contextOf('go', ['a', {}, lines.join('\n')], ['b', {}, 'short'])
  const [long, short] = results(context.elide({ maxTokens: 120, head: 0.25 }))
  assert.equal(short, 'short')
  const kept = long.split('\n').filter((line) => line && !line.startsWith('[…'))
  assert.ok(
    kept.every((line) => lines.includes(line)),
    long,
  )
  const head = kept.findIndex((line, index) => line !== lines[index])
  assert.ok(head > 0 && head < kept.length - head, 'a quarter of it is the beginning')
  assert.equal(kept.at(-1), lines.at(-1))
  assert.equal(context.elide({ maxTokens: 120, of: 'text' }), null)
})

test('dedupeToolResults keeps the latest of equal results of equal calls', () => {
  const call = (args, result) => ['read', args, result]
  const context = contextOf(
    'go',
    call('{"path": "x", "line": 1}', LONG),
    call('{"line":1,"path":"x"}', LONG),
    call({ path: 'y' }, LONG),
    call({ path: 'y' }, `${LONG}changed`),
    call('{"path": "x", "line": 1}', LONG),
  )
  const repeated = '[same result as a later call with these arguments]'
  assert.deepEqual(results(context.dedupeToolResults()), [repeated, repeated, LONG, `${LONG}changed`, LONG])
})

test('a summary stands for whole exchanges', () => {
  const context = contextOf('go', ['a', {}, LONG], ['b', {}, LONG], 'and now')
  const ids = context.messages.map(({ id }) => id)
  const fork = context.summarize({ until: ids[5], text: 'Read both.' })
  assert.deepEqual(
    fork.messages.map(({ role }) => role),
    ['system', 'user', 'user'],
  )
  assert.deepEqual(fork.messages[1].content, [{ type: 'text', text: 'Read both.' }])
  assert.deepEqual(fork.messages[1].metadata, { summary_of: ids.slice(1, 6) })
  const middle = context.summarize({ ids: [ids[5], ids[4]], text: 'B.' })
  assert.deepEqual(
    middle.messages.map(({ id }) => ids.indexOf(id)),
    [0, 1, 2, 3, -1, 6],
  )
  const plan = context.planSummarize({ until: ids[5], text: 'Read both.' })
  assert.equal(plan.tokensAfter, fork.totalTokenCount())
  assert.deepEqual(check(fork, 'anthropic'), [])

  const refused = (options, expected, className = 'InvalidArgumentError') => {
    refusedNow(() => context.summarize({ text: 'x', ...options }), className, expected)
    assert.equal(context.messages.length, 7)
  }
  refused({ until: ids[2] }, { argument: 'options.until', message: /separate tool calls from their results/ })
  refused({ until: 'nope' }, { argument: 'options.until' })
  refused({ until: ids[0] }, { argument: 'options.until' })
  refused({ ids: [ids[1], ids[6]] }, { argument: 'options.ids', message: /next to each other/ })
  refused({ ids: [] }, { argument: 'options.ids' })
  refused({ ids: [ids[1], 'nope'] }, { argument: 'options.ids[1]' })
  refused({ ids: 5 }, { argument: 'options.ids' })
  refused({}, { argument: 'options.until' })
  refused({ until: ids[1], ids: [ids[1]] }, { argument: 'options.until' })
  refused({ until: ids[1], text: 5 }, { argument: 'options.text' })
  refused(
    { until: ids[1], text: LONG },
    { code: 'ERR_NO_SAVING', message: /the summary has \d+ tokens/ },
    'NoSavingError',
  )
  context.append(Message.create('assistant', [ContentPart.toolUse('open', 'x', {})]))
  const open = context.messages.at(-1).id
  refusedNow(() => context.summarize({ until: open, text: 'x' }), 'InvalidArgumentError', {
    message: /waits for its result/,
  })
})

test('summaryPrompt says what the messages of a range say', () => {
  const context = contextOf('Read it.', ['read', { path: 'x' }, 'its text'])
  const prompt = summaryPrompt(context, { ids: context.messages.slice(1).map(({ id }) => id) })
  assert.ok(prompt.endsWith('\n[user] Read it.\n[assistant calls read] {"path":"x"}\n[result] its text'), prompt)
  refusedNow(() => summaryPrompt(context, { until: 'nope' }), 'InvalidArgumentError', { argument: 'options.until' })
  refusedNow(() => summaryPrompt(context, {}), 'InvalidArgumentError', { argument: 'range.until' })
  refusedNow(() => summaryPrompt({}, { until: 'x' }), 'InvalidArgumentError', { argument: 'context' })
})

test('a policy stops as soon as its budget holds', () => {
  const context = contextOf('go', ...Array.from({ length: 10 }, () => ['a', {}, LONG]), 'next', ['b', {}, LONG])
  const total = context.totalTokenCount()
  const policy = (maxTokens) => [
    { type: 'clear-tool-results', keep: 2 },
    { type: 'token-window', maxTokens, boundary: 'turn' },
  ]
  assert.equal(context.fit(policy(total)), null)
  const cleared = context.fit(policy(total - 1))
  assert.deepEqual(
    cleared.reports.map(({ type }) => type),
    ['clear-tool-results'],
  )
  assert.equal(cleared.context.totalTokenCount(), cleared.reports[0].tokensAfter)
  const both = context.fit(policy(400))
  assert.deepEqual(
    both.reports.map(({ type }) => type),
    ['clear-tool-results', 'token-window'],
  )
  assert.ok(both.context.totalTokenCount() <= 400)
  assert.deepEqual(context.planFit(policy(400)), both.reports)
  assert.deepEqual(context.planFit(policy(total)), [])
  assert.equal(both.reports[1].tokensBefore, both.reports[0].tokensAfter)
  assert.equal(both.context.originContextId, context.id)
  // Without a window, every step is taken; a window counts messages or tokens, and media as it is told.
  assert.ok(context.fit([{ type: 'clear-tool-results' }]))
  assert.equal(context.fit([{ type: 'sequence-window', count: 4 }]).context.messageCount, 5)
  assert.equal(context.fit([]), null)
})

test('steps on a session make the fork the active context, and the transcript has the originals', async () => {
  const session = Session.create('a', { storage: new MemoryStorage() })
  for (const message of contextOf('go', ['a', {}, LONG], ['b', {}, LONG]).messages.slice(1)) session.append(message)
  const before = session.activeContext
  const cleared = session.clearToolResults({ keep: 1 })
  assert.equal(session.activeContext, cleared)
  assert.equal(session.clearToolResults({ keep: 1 }), null)
  assert.equal(session.clearThinking(), null)
  assert.equal(session.clearMedia(), null)
  assert.equal(session.dedupeToolResults(), null)
  assert.notEqual(session.elide({ maxTokens: 32 }), null)
  const fitted = session.fit([{ type: 'sequence-window', count: 2 }])
  assert.equal(session.activeContext, fitted.context)
  const summary = session.summarize({ until: fitted.context.messages.at(-1).id, text: 'All read.' })
  assert.equal(session.activeContext, summary)
  const transcript = await session.transcript()
  assert.deepEqual(transcript.slice(0, 5), before.messages)
  assert.equal(transcript.length, 6, 'and the summary')
  session.rawDict = { ...session.rawDict, active_context_id: null }
  assert.deepEqual(
    [session.fit([]), session.clearToolResults(), session.summarize({ until: 'x', text: '' })],
    [null, null, null],
  )
})

test('a wrong policy or option names the field at fault, and changes nothing', () => {
  const context = contextOf('go', ['a', {}, LONG])
  for (const [policy, argument] of [
    [5, 'policy'],
    [{}, 'policy'],
    [[5], 'policy[0]'],
    [[{}], 'policy[0].type'],
    [[{ type: 'summarize' }], 'policy[0].type'],
    [[{ type: 'clear-media' }, { type: 'clear-everything' }], 'policy[1].type'],
    [[{ type: 'clear-media', keep: -1 }], 'policy[0].keep'],
    [[{ type: 'clear-media', kep: 1 }], 'policy[0].kep'],
    [[{ type: 'clear-thinking', keepTurns: 0.5 }], 'policy[0].keepTurns'],
    [[{ type: 'clear-tool-results', exclude: 'memory' }], 'policy[0].exclude'],
    [[{ type: 'clear-tool-results', inputs: 'yes' }], 'policy[0].inputs'],
    [[{ type: 'clear-tool-results', placeholder: 5 }], 'policy[0].placeholder'],
    [[{ type: 'elide' }], 'policy[0].maxTokens'],
    [[{ type: 'elide', maxTokens: 31 }], 'policy[0].maxTokens'],
    [[{ type: 'elide', maxTokens: 50, head: 2 }], 'policy[0].head'],
    [[{ type: 'elide', maxTokens: 50, of: 'all' }], 'policy[0].of'],
    [[{ type: 'sequence-window' }], 'policy[0].count'],
    [[{ type: 'token-window', maxTokens: 5, boundary: 'sentence' }], 'policy[0].boundary'],
    [[{ type: 'token-window', maxTokens: 5, reserve: 6 }], 'policy[0].reserve'],
    [[{ type: 'token-window', maxTokens: 5, hysteresis: 5 }], 'policy[0].hysteresis'],
    [[{ type: 'token-window', maxTokens: 5, hysteresis: {} }], 'policy[0].hysteresis.to'],
    [[{ type: 'token-window', maxTokens: 5, hysteresis: { to: 6 } }], 'policy[0].hysteresis.to'],
    [[{ type: 'token-window', maxTokens: 5, hysteresis: { to: 5, of: 1 } }], 'policy[0].hysteresis.of'],
    [[{ type: 'token-window', maxTokens: 5, media: 'none' }], 'policy[0].media'],
    [[{ type: 'token-window', maxTokens: 5, counter: () => 5 }], 'policy[0].counter'],
  ]) {
    refusedNow(() => context.fit(policy), 'InvalidArgumentError', { argument }, JSON.stringify(policy))
    refusedNow(() => context.planFit(policy), 'InvalidArgumentError', { argument })
  }
  refusedNow(() => context.fit([], { encoding: 'gpt-4o' }), 'UnknownEncodingError', { argument: 'encoding' })
  refusedNow(() => context.clearMedia({ keep: -1 }), 'InvalidArgumentError', { argument: 'options.keep' })
  refusedNow(() => context.clearMedia({ kept: 1 }), 'InvalidArgumentError', { argument: 'options.kept' })
  refusedNow(() => context.elide(), 'InvalidArgumentError', { argument: 'options.maxTokens' })
  refusedNow(() => context.fit([{ type: 'token-window', maxTokens: 5, boundary: 'turn' }]), 'WindowTooSmallError')
  assert.deepEqual(context.children, [])
})
