// Windows that keep exchanges and turns whole, pins, hysteresis, and their reports.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkError, refusedNow } from '../support/errors.mjs'
import { load } from '../support/installed.mjs'
import { fc, forAll, isUsual, list } from '../support/property.mjs'

const { ContentPart, Context, MemoryStorage, Session, SystemPromptMessage, WindowTooSmallError } =
  await load('peteos-session')

/**
 * A context of words: `u` is a prompt, `a` an answer, `c1` a call, `r1` a result; `+` joins parts. The id of a message is its
 * word, with its position if the word is repeated. Each message has ten tokens.
 */
function conversation(words, options = {}) {
  const context = Context.create(options)
  const seen = new Set()
  words.split(' ').forEach((word, index) => {
    const content = word.split('+').map((part) => {
      if (part[0] === 'c') return ContentPart.toolUse(part, 'look', {})
      if (part[0] === 'r') return ContentPart.toolResult(`c${part.slice(1)}`, 'seen')
      if (part[0] === 't') return ContentPart.thinking('hm')
      return ContentPart.text(part)
    })
    const role = { u: 'user', r: 'tool_result', s: 'system' }[word[0]] ?? 'assistant'
    const id = seen.has(word) ? `${word}@${index}` : word
    seen.add(word)
    context.append({ role, id, content, token_count: 10 })
  })
  return context
}

const kept = (report) => report.kept.join(' ')
const windowOf = (words, count, options) => kept(conversation(words).planSequenceWindow(count, options))
const exchange = { boundary: 'exchange' }
const turn = { boundary: 'turn' }

test('a window of exchanges does not separate a call from its result', () => {
  const words = 'u1 c1 r1 c2+c3 r3 r2 a'
  assert.equal(windowOf(words, 7, exchange), words)
  assert.equal(windowOf(words, 6, exchange), 'c1 r1 c2+c3 r3 r2 a')
  assert.equal(windowOf(words, 5, exchange), 'c2+c3 r3 r2 a')
  assert.equal(windowOf(words, 4, exchange), 'c2+c3 r3 r2 a')
  assert.equal(windowOf(words, 3, exchange), 'a')
  assert.equal(windowOf(words, 1, exchange), 'a')
})

test('results may come in any order, in one message or several, with other messages between', () => {
  assert.equal(windowOf('u c1+c2 u2 r2 a r1 a2', 6, exchange), 'c1+c2 u2 r2 a r1 a2')
  assert.equal(windowOf('u c1+c2 u2 r2 a r1 a2', 5, exchange), 'a2')
  assert.equal(windowOf('u c1 c2 r1 r2 a', 4, exchange), 'a', 'exchanges side by side')
  assert.equal(windowOf('u c1 c2 r1+r2 a', 3, exchange), 'a')
  assert.equal(windowOf('u t+c1 r1 a', 3, exchange), 't+c1 r1 a', 'thinking and its call are one message')
})

test('a reused id begins a new exchange', () => {
  assert.equal(windowOf('u c1 r1 u2 c1 r1 a', 3, exchange), 'c1@4 r1@5 a')
  assert.equal(windowOf('u c1 r1 u2 c1 r1 a', 5, exchange), 'u2 c1@4 r1@5 a')
})

test('a call without its result is pending until the assistant speaks again, and is kept', () => {
  const pending = conversation('u a c1+c2 r1 u2').planSequenceWindow(3, exchange)
  assert.equal(kept(pending), 'c1+c2 r1 u2')
  assert.deepEqual(pending.pending, [{ id: 'c1+c2', callId: 'c2' }])
  assert.deepEqual(pending.broken, [])
  refusedNow(() => windowOf('u a c1+c2 r1 u2', 2, exchange), 'WindowTooSmallError', { needed: 3 })
})

test('a broken exchange is kept or dropped as a whole, and reported', () => {
  const words = 'u c1+c2 r1 r9 a'
  const report = conversation(words).planSequenceWindow(2, exchange)
  assert.equal(kept(report), 'r9 a')
  assert.deepEqual(report.broken, [
    { id: 'c1+c2', callId: 'c2', problem: 'call-without-result', kept: false },
    { id: 'r9', callId: 'c9', problem: 'result-without-call', kept: true },
  ])
  assert.equal(windowOf(words, 3, exchange), 'r9 a')
  assert.equal(windowOf(words, 4, exchange), 'c1+c2 r1 r9 a')
})

test('a window of turns begins with a prompt', () => {
  const words = 'u1 a1 u2 c1 r1 a2 u3 a3'
  assert.equal(windowOf(words, 7, turn), 'u2 c1 r1 a2 u3 a3')
  assert.equal(windowOf(words, 5, turn), 'u3 a3')
  assert.equal(windowOf(words, 8, turn), words)
  const results = 'u1 c1 r1 a1 u2 a2'
  const asUser = conversation(results)
  asUser.updateMessage('r1', { role: 'user' })
  assert.equal(kept(asUser.planSequenceWindow(4, turn)), 'u2 a2', 'a result in a user message is not a prompt')
})

test('the prompt of a long loop is kept, and counts first', () => {
  const words = 'u0 a0 u1 c1 r1 c2 r2 c3 r3'
  const report = conversation(words).planSequenceWindow(5, turn)
  assert.equal(kept(report), 'u1 c2 r2 c3 r3')
  assert.equal(kept(conversation(words).planSequenceWindow(4, turn)), 'u1 c3 r3')
  assert.deepEqual(
    report.messages.map(({ reason }) => reason).join(' '),
    'over-limit over-limit prompt turn over-limit recent recent recent recent'.replace(
      'turn over-limit',
      'over-limit exchange',
    ),
  )
  refusedNow(() => windowOf(words, 2, turn), 'WindowTooSmallError', { limit: 2, specialTokens: null, needed: 3 })
  assert.equal(windowOf('u1 c1 r1 c2 u2 r2', 4, turn), 'u1 c2 u2 r2', 'a user message while a call is pending')
  assert.equal(windowOf('a0 c1 r1 c2 r2', 3, turn), 'c2 r2', 'a history without a prompt begins with an exchange')
})

test('the error of a limit that is too small has the required one, and nothing changes', () => {
  const context = conversation('u1 c1 r1', {
    systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 7 },
  })
  const before = context.rawDict
  for (const [options, needed] of [
    [exchange, 27],
    [turn, 37],
    [{ ...exchange, reserve: 5 }, 32],
  ]) {
    for (const call of ['planTokenWindow', 'rollingTokenWindow']) {
      const error = refusedNow(() => context[call](20, undefined, options), 'WindowTooSmallError', {
        code: 'ERR_WINDOW_TOO_SMALL',
        limit: 20,
        specialTokens: 7,
        needed,
        message: new RegExp(`raise maxTokens to ${needed}`),
      })
      assert.ok(error instanceof WindowTooSmallError)
    }
    const enough = context.planTokenWindow(needed, undefined, options)
    assert.equal(enough.tokensAfter + enough.reserve, needed)
  }
  for (const options of [exchange, turn]) {
    refusedNow(() => context.rollingSequenceWindow(0, options), 'WindowTooSmallError', {
      limit: 0,
      specialTokens: null,
    })
  }
  assert.equal(context.rawDict, before)
  const empty = Context.create({ systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 7 } })
  assert.equal(empty.rollingTokenWindow(1, undefined, exchange), null, 'with nothing to drop, nothing is too small')
})

test('windows of a session take the same options', async () => {
  const storage = new MemoryStorage()
  const session = Session.create('a', { storage })
  session.setActiveContext(conversation('u1 a1 u2 c1 r1 a2'))
  const first = session.activeContext
  const window = session.rollingTokenWindow(45, 'cl100k_base', turn)
  assert.equal(session.activeContext, window)
  assert.equal(window.messages.map(({ id }) => id).join(' '), 'u2 c1 r1 a2')
  assert.equal(session.rollingSequenceWindow(4, turn), null)
  refusedNow(() => session.rollingSequenceWindow(0, turn), 'WindowTooSmallError')
  assert.equal(session.activeContext, window)
  assert.deepEqual(first.children, [window.id])
  await session.save()
  const again = await Session.load('a', session.uuid, { storage })
  assert.equal(again.rollingSequenceWindow(2, exchange).messageCount, 1)
})

test('with hysteresis a window cuts deep, and then not again for many turns', () => {
  const options = { boundary: 'turn', hysteresis: { to: 4 } }
  assert.equal(windowOf('u1 a1 u2 a2 u3 a3', 6, options), 'u1 a1 u2 a2 u3 a3')
  assert.equal(windowOf('u1 a1 u2 a2 u3 a3 u4', 6, options), 'u3 a3 u4')
  const report = conversation('u1 a1 u2 a2 u3 a3 u4').planSequenceWindow(6, options)
  assert.equal(report.lowerMark, 4)
  assert.deepEqual(
    report.messages.map(({ reason }) => reason),
    ['over-limit', 'turn', 'lower-mark', 'lower-mark', 'recent', 'recent', 'recent'],
  )
  // If the minimum exceeds the mark but not the limit, the minimum is kept.
  assert.equal(windowOf('u1 a1 u2 c1 r1', 3, { boundary: 'turn', hysteresis: { to: 1 } }), 'u2 c1 r1')
  assert.equal(windowOf('u1 u2 u3', 2, { hysteresis: { to: 0 } }), 'u3')

  // For a provider's cache: how much of the beginning is the same from one turn to the next.
  const session = Session.create('a', { storage: new MemoryStorage() })
  const cuts = (hysteresis) => {
    session.setActiveContext(conversation('u0 a0'))
    let cuts = 0
    for (let round = 1; round <= 40; round++) {
      session.activeContext.append({ role: 'user', token_count: 10 })
      session.activeContext.append({ role: 'assistant', token_count: 10 })
      if (session.rollingTokenWindow(200, undefined, { boundary: 'turn', ...hysteresis }) !== null) cuts++
    }
    return cuts
  }
  assert.equal(cuts({}), 31)
  assert.equal(cuts({ hysteresis: { to: 100 } }), 6)
})

test('the report has the number of tokens of the unchanged beginning', () => {
  const specials = { systemPromptMessage: { ...SystemPromptMessage.create('s'), token_count: 7 } }
  const context = conversation('u1 a1 u2 c1 r1 c2 r2', specials)
  assert.equal(context.planTokenWindow(100).unchangedPrefixTokens, 77)
  assert.equal(context.planTokenWindow(60).unchangedPrefixTokens, 7)
  assert.equal(context.planTokenWindow(60, undefined, { pin: ['u1', 'a1'] }).unchangedPrefixTokens, 27)
})

test('a pinned message is kept with its exchange, and counts first', () => {
  const words = 'u1 c1 r1 a1 u2 a2 u3 a3'
  assert.equal(windowOf(words, 3, { pin: ['u1'] }), 'u1 u3 a3')
  assert.equal(windowOf(words, 4, { pin: ['r1'] }), 'c1 r1 u3 a3')
  assert.equal(windowOf(words, 5, { pin: ['r1'], boundary: 'turn' }), 'u1 c1 r1 u3 a3')
  assert.equal(windowOf(words, 3, { pin: ['a3', 'a3'], boundary: 'exchange' }), 'a2 u3 a3')
  const report = conversation(words).planSequenceWindow(5, { pin: ['c1'], boundary: 'turn' })
  assert.deepEqual(
    report.messages.map(({ reason }) => reason),
    ['prompt', 'pinned', 'pinned-exchange', 'over-limit', 'over-limit', 'over-limit', 'recent', 'recent'],
  )
  refusedNow(() => windowOf(words, 1, { pin: ['r1'] }), 'WindowTooSmallError', { needed: 2 })
  refusedNow(() => windowOf(words, 2, { pin: ['r1'], boundary: 'exchange' }), 'WindowTooSmallError', { needed: 3 })
  const special = Context.create({ systemPromptMessage: { ...SystemPromptMessage.create('s'), id: 's' } })
  special.append({ role: 'user', id: 'u' })
  assert.deepEqual(special.planSequenceWindow(0, { pin: ['s'] }).dropped, ['u'], 'special messages are always kept')
})

test('reserved tokens are not available for messages', () => {
  const context = conversation('u1 a1 u2 a2')
  assert.equal(kept(context.planTokenWindow(40)), 'u1 a1 u2 a2')
  const report = context.planTokenWindow(40, undefined, { reserve: 15 })
  assert.deepEqual([kept(report), report.limit, report.reserve, report.tokensAfter], ['u2 a2', 40, 15, 20])
  assert.equal(kept(context.planTokenWindow(40, undefined, { reserve: 40 })), '')
  refusedNow(() => context.planTokenWindow(40, undefined, { reserve: 41 }), 'InvalidArgumentError', {
    argument: 'options.reserve',
  })
  refusedNow(
    () => context.planTokenWindow(40, undefined, { reserve: 30, hysteresis: { to: 11 } }),
    'InvalidArgumentError',
    {
      argument: 'options.hysteresis.to',
      message: /10/,
    },
  )
})

const looseParts = fc.record({
  type: fc.constantFrom('text', 'tool_use', 'tool_result'),
  callId: fc.constantFrom('c0', 'c1', 'c2', 'c3'),
  anchor: fc.constantFrom('front', 'messages', 'messages'),
})

test('exchanges follow display order, windows the order of appends', async () => {
  const seen = { windows: 0, tooSmall: 0, pairs: 0 }
  const steps = list(1, 12, looseParts)
  await forAll(300, fc.record({ steps, boundary: fc.constantFrom('exchange', 'turn') }), ({ steps, boundary }) => {
    const context = Context.create()
    context.addAnchor('front', 0, { afterExisting: false })
    for (const [index, { type, callId, anchor }] of steps.entries()) {
      const [role, part] = {
        text: ['user', ContentPart.text('x')],
        tool_use: ['assistant', ContentPart.toolUse(callId, 'f', {})],
        tool_result: ['tool_result', ContentPart.toolResult(callId, 'y')],
      }[type]
      context.append({ role, content: [part], id: `m${index}` }, anchor)
    }
    const { messages } = context
    for (let count = 1; count <= steps.length; count++) {
      let report
      try {
        report = context.planSequenceWindow(count, { boundary })
      } catch (error) {
        assert.ok(checkError(error, 'WindowTooSmallError').needed > count)
        seen.tooSmall++
        continue
      }
      seen.windows++
      const stays = new Set(report.kept)
      assert.ok(stays.size <= count)
      messages.forEach(({ id, content: [part] }, index) => {
        if (part.type !== 'tool_result') return
        const call = messages
          .slice(0, index)
          .findLast(({ content: [call] }) => call.type === 'tool_use' && call.call_id === part.call_id)
        if (call === undefined) return
        assert.equal(stays.has(id), stays.has(call.id), `${id} of ${call.id}`)
        seen.pairs++
      })
    }
  })
  assert.ok(!isUsual || Math.min(...Object.values(seen)) > 100, JSON.stringify(seen))
})
