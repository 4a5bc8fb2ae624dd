// Faults of the reference in contexts, windows, counts and hooks that this package does not copy: each is shown on the
// unpatched reference, next to the behaviour of the package. docs/reference-differences.md lists them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsReference } from './oracle.mjs'
import { countTokens, MemoryStorage, Session } from './support/package.mjs'
import { append, filesOf, ids, loaded, reference, session, text, UUID } from './support/unpatched.mjs'

test('a stored token count is used for every encoding; here for its own', needsReference, async (t) => {
  const words = 'Съешь ещё этих мягких французских булок'
  const fresh = async (encoding) => {
    const theirs = await reference(t)
    return (await theirs.steps(append('a', words), { do: 'count', encodings: [encoding] })).totals[encoding]
  }
  const [cl100k, o200k] = [await fresh('cl100k_base'), await fresh('o200k_base')]
  assert.notEqual(cl100k, o200k)
  const theirs = await reference(t)
  const { totals } = await theirs.steps(append('a', words), { do: 'count', encodings: ['cl100k_base', 'o200k_base'] })
  assert.equal(totals.o200k_base, cl100k)
  assert.equal((await theirs.context()).messages[0].token_count, cl100k)

  const { activeContext } = session(text('a', words))
  assert.equal(activeContext.totalTokenCount('cl100k_base'), cl100k)
  assert.equal(activeContext.totalTokenCount('o200k_base'), o200k)
  assert.equal('token_count' in activeContext.messages[0], false)
  // A count that a file brings is that of cl100k_base.
  const counted = session(text('a', words, { token_count: 7 })).activeContext
  assert.deepEqual([counted.totalTokenCount('cl100k_base'), counted.totalTokenCount('o200k_base')], [7, o200k])
})

test('text that looks like special tokens raises an error; here it is counted as text', needsReference, async (t) => {
  for (const special of ['<|endoftext|>', '<|fim_prefix|>', '<|endofprompt|>']) {
    const theirs = await reference(t)
    await theirs.steps(append('a', special))
    assert.equal((await theirs.step({ do: 'count', encodings: ['cl100k_base'] })).error, 'ValueError')
    assert.equal((await theirs.step({ do: 'tokenWindow', budget: 10 })).error, 'ValueError')
    const ours = session(text('a', special))
    assert.equal(ours.activeContext.totalTokenCount(), countTokens(`user: [{"type": "text", "text": "${special}"}]`))
    assert.ok(countTokens(special) > 1)
    assert.equal(ours.rollingTokenWindow(10).messageCount, 0)
  }
})

test(
  'a window of 0 keeps everything, and a negative one misbehaves; here 0 keeps none, and negative is an error',
  needsReference,
  async (t) => {
    const messages = ['a', 'b', 'c']
    const kept = async (count) => {
      const theirs = await reference(t)
      await theirs.steps(...messages.map((id) => append(id)))
      const result = await theirs.step({ do: 'sequenceWindow', count })
      return result.error ?? (await theirs.ids(1))
    }
    assert.deepEqual(await kept(0), ['a', 'b', 'c'])
    assert.deepEqual(await kept(-1), ['b', 'c'])
    assert.deepEqual(await kept(-2), ['c'])
    assert.equal(await kept(-3), 'IndexError')
    assert.equal(await kept(0.5), 'TypeError')

    const { activeContext } = session(...messages.map((id) => text(id)))
    assert.deepEqual(activeContext.rollingSequenceWindow(0).messages, [])
    for (const count of [-1, -3, 0.5, NaN, Infinity, '1', null, undefined]) {
      const error = { name: 'InvalidArgumentError', argument: 'count' }
      assert.throws(() => activeContext.rollingSequenceWindow(count), error, String(count))
    }
    assert.throws(() => activeContext.rollingTokenWindow(-1), { name: 'InvalidArgumentError', argument: 'maxTokens' })
    assert.equal(activeContext.children.length, 1, 'an error changes nothing')
  },
)

test('messages without a sequence number vanish; here they rank by position', needsReference, async (t) => {
  const message = (id, sequence = '') => `${JSON.stringify(text(id)).slice(0, -1)}${sequence}}`
  const context = `{"messages":[${[message('a', ',"_sequence_number":3'), message('b'), message('c', ',"_sequence_number":4'), message('d')]}],
    "id":"c","content_map":{},"anchor_points":[["system_prompt",0],["tools",0],["messages",4]],"message_sequence":4,"_mutation_counter":5,"children":[]}`
  const theirs = await reference(t, { uuid: UUID, files: filesOf(context) })
  await theirs.steps({ do: 'sequenceWindow', count: 2 }, { do: 'fork' }, { do: 'tokenWindow', budget: 20 })
  assert.deepEqual(await theirs.ids(1), ['a', 'c'])
  assert.deepEqual(await theirs.ids(2), ['a', 'c'])
  assert.deepEqual(await theirs.ids(3), ['c'])
  assert.equal((await theirs.step({ do: 'sequenceWindow', count: 3 })).error, 'IndexError')

  const { activeContext } = await loaded(filesOf(context))
  assert.deepEqual(ids(activeContext.rollingSequenceWindow(1).messages), ['d'])
  assert.deepEqual(ids(activeContext.rollingSequenceWindow(3).messages), ['b', 'c', 'd'])
  assert.deepEqual(ids(activeContext.fork().messages), ['a', 'b', 'c', 'd'])
})

test('after strip_thinking anchors and counters do not match the messages; here they do', needsReference, async (t) => {
  const thought = { role: 'assistant', id: 'thought', content: [{ type: 'thinking', text: 'hm' }] }
  const messages = [
    text('a'),
    thought,
    text('b'),
    { ...text('c', 'c', { token_count: 99 }), content: [...thought.content, ...text('c').content] },
  ]
  const theirs = await reference(t)
  await theirs.steps(...messages.map((message) => ({ do: 'append', message: JSON.stringify(message) })))
  await theirs.steps({ do: 'stripThinkingAsItIs' })
  const stripped = await theirs.context(1)
  assert.deepEqual(ids(stripped.messages), ['a', 'b', 'c'])
  assert.deepEqual(stripped.anchor_points.at(-1), ['messages', 4], 'past the end')
  assert.equal(stripped.message_sequence, 4)
  assert.equal(stripped.messages[2].token_count, 99, 'the count of a removed part')
  assert.equal((await theirs.step({ ...append('d'), on: 1 })).error, 'AssertionError', 'and no append works')

  const child = session(...messages).activeContext.stripThinking()
  assert.deepEqual(ids(child.messages), ['a', 'b', 'c'])
  assert.deepEqual(child.anchorPoints, [
    ['system_prompt', 0],
    ['tools', 0],
    ['messages', 3],
  ])
  assert.equal(child.rawDict.message_sequence, 3)
  assert.deepEqual(
    child.messages.map((message) => message._sequence_number),
    [3, 4, 5],
  )
  assert.equal(child.rawDict._mutation_counter, 6)
  assert.equal('token_count' in child.messages[2], false)
  child.append(text('d'))
  assert.deepEqual(ids(child.messages), ['a', 'b', 'c', 'd'])
})

test(
  'a hook that is registered again after a load doubles its text; here it is added once',
  needsReference,
  async (t) => {
    const hook = { do: 'hook', message: 0, name: 'mood', text: 'Be kind.' }
    const theirs = await reference(t, { system: '{"id":"s","_static_text":"Fixed."}' })
    await theirs.steps(hook, { do: 'save' }, { do: 'load' }, hook, { do: 'materialize' })
    assert.equal((await theirs.context()).messages[0].content[0].text, 'Fixed.\n\nBe kind.\n\nBe kind.')

    const ours = Session.create('parent', {
      storage: new MemoryStorage(),
      systemPromptMessage: { id: 's', _static_text: 'Fixed.' },
    })
    ours.registerHook({ id: 's' }, 'mood', () => 'Be kind.')
    await ours.save()
    const again = await Session.load('parent', ours.uuid, { storage: ours.storage })
    again.registerHook({ id: 's' }, 'mood', () => 'Be kind.')
    await again.materialize()
    assert.equal(again.activeContext.messages[0].content[0].text, 'Fixed.\n\nBe kind.')
    assert.equal(again.activeContext.messages[0]._hook_ids.length, 1)
  },
)

test(
  'a tool list that is not JSON empties the tools; here it is an error that changes nothing',
  needsReference,
  async (t) => {
    const list = '[{"name":"read"}]'
    const theirs = await reference(t, { tools: '{"id":"t"}' })
    const hook = (returned, name = 'tool_list') => ({ do: 'hook', message: 0, name, text: returned })
    await theirs.steps(hook(list), { do: 'materialize' })
    assert.equal((await theirs.context()).messages[0].content.length, 1)
    await theirs.steps(hook('not JSON'), { do: 'materialize' })
    assert.deepEqual((await theirs.context()).messages[0].content, [])
    // A filter that is not JSON lets every tool through; one that is a string filters by its characters.
    await theirs.steps(hook('[{"name":"read"},{"name":"w"}]'), hook('[oops', 'tool_filter'), { do: 'materialize' })
    assert.equal((await theirs.context()).messages[0].content.length, 2)
    await theirs.steps(hook('"write"', 'tool_filter'), { do: 'materialize' })
    assert.deepEqual(
      (await theirs.context()).messages[0].content.map(({ name }) => name),
      ['w'],
    )

    const ours = Session.create('parent', { storage: new MemoryStorage(), toolDefinitionsMessage: { id: 't' } })
    let returned = { tool_list: list, tool_filter: '[]' }
    for (const name of Object.keys(returned)) ours.registerHook({ id: 't' }, name, () => returned[name])
    await ours.materialize()
    const before = ours.activeContext.rawDict
    for (const bad of [
      { tool_list: 'not JSON' },
      { tool_list: '{}' },
      { tool_list: '[1]' },
      { tool_filter: '[oops' },
      { tool_filter: '"write"' },
      { tool_filter: '[1]' },
      { tool_filter: '["("]' },
    ]) {
      returned = { tool_list: list, tool_filter: '[]', ...bad }
      await assert.rejects(
        ours.materialize(),
        { name: 'InvalidArgumentError', argument: Object.keys(bad)[0] },
        JSON.stringify(bad),
      )
      assert.equal(ours.activeContext.rawDict, before)
    }
  },
)

test('a fork shares lists with its parent; here each has its own', needsReference, async (t) => {
  const call = {
    role: 'assistant',
    id: 'call',
    content: [{ type: 'tool_use', call_id: 'c1', name: 'f', arguments: '{}', approval_status: 'pending' }],
  }
  const theirs = await reference(t)
  await theirs.steps(
    append('a'),
    { do: 'append', message: JSON.stringify(call) },
    { do: 'sessionSequenceWindow', count: 1 },
  )
  await theirs.steps({ do: 'approve', on: 1, message: 0, part: 0 }, { do: 'hook', message: 0, name: 'mood', text: '' })
  const [, parent] = (await theirs.context(0)).messages
  assert.equal(parent.content[0].approval_status, 'approved', 'the parent was changed with it')
  assert.equal(parent._hook_ids.length, 1)

  const ours = session(text('a'), call)
  const before = ours.activeContext
  const window = ours.rollingSequenceWindow(1)
  window.updateMessage('call', { content: [{ ...call.content[0], approval_status: 'approved' }] })
  ours.registerHook({ id: 'call' }, 'mood', () => '')
  assert.equal(window.messages[0].content[0].approval_status, 'approved')
  assert.equal(before.messages[1].content[0].approval_status, 'pending')
  assert.deepEqual(before.messages[1]._hook_ids, [])
})

test('a context without anchors accepts no message; here it has the default ones', needsReference, async (t) => {
  const context = '{"messages":[{"role":"user","id":"a","content":[]}],"id":"c"}'
  const theirs = await reference(t, { uuid: UUID, files: filesOf(context) })
  assert.equal((await theirs.step(append('b'))).error, 'StopIteration')

  const { activeContext } = await loaded(filesOf(context))
  activeContext.append(text('b'))
  assert.deepEqual(ids(activeContext.messages), ['a', 'b'])
})

test('materialize without an active context raises an error; here it does nothing', needsReference, async (t) => {
  const theirs = await reference(t)
  await theirs.steps({ do: 'deactivate' })
  assert.equal((await theirs.step({ do: 'materialize' })).error, 'AttributeError')

  const storage = new MemoryStorage()
  await storage.write('parent/x/session.json', new TextEncoder().encode('{"uuid":"x","active_context_id":null}'))
  const ours = await Session.load('parent', 'x', { storage })
  await ours.materialize()
  assert.equal(ours.rollingSequenceWindow(1), null)
  assert.equal(ours.rollingTokenWindow(1), null)
})
