// Faults of the reference that this package does not copy: each is shown on the unpatched reference, next to the behaviour of
// the package. docs/reference-differences.md lists them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { available, needsReference, Oracle } from './oracle.mjs'
import { Context, countTokens, entry, MemoryStorage, Session } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const oracle = available && new Oracle({ asIs: true })
after(() => oracle?.close())

function tempDir(t) {
  const path = mkdtempSync(join(tmpdir(), 'peteos-session-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const text = (id, content = id, fields = {}) => ({
  role: 'user',
  id,
  content: [{ type: 'text', text: content }],
  ...fields,
})
const append = (...args) => ({ do: 'append', message: JSON.stringify(text(...args)) })
const ids = (messages) => messages.map(({ id }) => id)

/** A session of the reference, with `step` for a step and `messages` for the messages of its first context. */
async function reference(t, start = {}) {
  const world = await oracle.open({ ...start, plain: true })
  t.after(() => world.close())
  const context = async (number = 0) => JSON.parse((await world.step({ do: 'dumps' })).dumps.at(number))
  return {
    step: world.step,
    /** Runs steps that must succeed; resolves to the result of the last. */
    async steps(...steps) {
      let result
      for (const step of steps) {
        result = await world.step(step)
        assert.equal(result.error, undefined, `${JSON.stringify(step)}: ${result.error} ${result.message}`)
      }
      return result
    },
    context,
    async ids(number) {
      return ids((await context(number)).messages)
    },
  }
}

/** A session of this package in memory with these messages. */
function session(...messages) {
  const made = Session.create('parent', { storage: new MemoryStorage() })
  for (const message of messages) made.activeContext.append(message)
  return made
}

/** A session of files, in a directory or in memory. */
const UUID = '20010203-x'
const filesOf = (context, fields = '') => ({
  'session.json': sessionFile(UUID, 'c', { unknown: fields || null }),
  'c.json': context,
})
async function loaded(files) {
  const storage = new MemoryStorage()
  for (const [name, content] of Object.entries(files))
    await storage.write(`parent/${UUID}/${name}`, new TextEncoder().encode(content))
  return Session.load('parent', UUID, { storage })
}

test(
  'the reference writes in place, and a full disk leaves a truncated file; here the old one stays',
  needsReference,
  async (t) => {
    const directory = tempDir(t)
    const long = 'x'.repeat(20_000)
    const theirs = await reference(t, { parent: directory })
    await theirs.steps(append('a'), { do: 'save' })
    const { uuid, contexts } = await theirs.step({ do: 'ids' })
    const file = join(directory, uuid, `${contexts[0]}.json`)
    linkSync(file, join(directory, 'link'))
    await theirs.steps(append('b'), { do: 'save' })
    assert.equal(
      readFileSync(join(directory, 'link'), 'utf8'),
      readFileSync(file, 'utf8'),
      'the same file was written over',
    )
    await theirs.steps(append('c', long))
    assert.equal((await theirs.step({ do: 'saveOnFullDisk', bytes: 4096 })).error, 'OSError')
    assert.throws(() => JSON.parse(readFileSync(file, 'utf8')), SyntaxError)
    await assert.rejects(Session.load(directory, uuid), { name: 'CorruptSessionError', path: file })

    const ours = Session.create(directory)
    ours.activeContext.append(text('a'))
    await ours.save()
    const ourFile = join(ours.sessionDir, `${ours.activeContextId}.json`)
    linkSync(ourFile, join(directory, 'our-link'))
    ours.activeContext.append(text('b'))
    await ours.save()
    assert.notEqual(
      readFileSync(join(directory, 'our-link'), 'utf8'),
      readFileSync(ourFile, 'utf8'),
      'the file was replaced',
    )
    // The same in a process that can write at most 8 blocks of 512 bytes, and may be killed for it.
    const program = `import { Session } from ${JSON.stringify(entry)}
    const session = await Session.load(${JSON.stringify(directory)}, ${JSON.stringify(ours.uuid)})
    session.activeContext.append(${JSON.stringify(text('c', long))})
    await session.save()`
    const run = spawnSync('sh', [
      '-c',
      'ulimit -c 0; ulimit -f 8; exec "$0" --input-type=module -e "$1"',
      process.execPath,
      program,
    ])
    assert.notEqual(run.status, 0, 'the save cannot have succeeded')
    assert.deepEqual(ids((await Session.load(directory, ours.uuid)).activeContext.messages), ['a', 'b'])
  },
)

test('the reference writes session.json before the context that it names; here after it', needsReference, async (t) => {
  const directory = tempDir(t)
  const theirs = await reference(t, { parent: directory })
  await theirs.steps({ do: 'save' }, append('a', 'x'.repeat(5000)), append('b'), { do: 'sequenceWindow', count: 1 })
  await theirs.steps(
    { do: 'activate', on: 0 },
    { do: 'sessionSequenceWindow', count: 1 },
    append('c', 'x'.repeat(20_000)),
  )
  const { uuid } = await theirs.step({ do: 'ids' })
  await theirs.steps({ do: 'append', on: 2, message: JSON.stringify(text('d', 'x'.repeat(20_000))) })
  assert.equal((await theirs.step({ do: 'saveOnFullDisk', bytes: 4096 })).error, 'OSError')
  const { active_context_id: named } = JSON.parse(readFileSync(join(directory, uuid, 'session.json'), 'utf8'))
  assert.throws(() => JSON.parse(readFileSync(join(directory, uuid, `${named}.json`), 'utf8')), SyntaxError)
  assert.equal((await theirs.step({ do: 'load' })).error, 'JSONDecodeError')

  const written = []
  const storage = new MemoryStorage()
  const write = storage.write.bind(storage)
  storage.write = (path, data) => {
    written.push(path.split('/').at(-1))
    return write(path, data)
  }
  const ours = Session.create('parent', { storage })
  ours.activeContext.append(text('a'))
  const parent = ours.activeContextId
  ours.rollingSequenceWindow(0)
  await ours.save()
  assert.deepEqual(written, [`${ours.activeContextId}.json`, `${parent}.json`, 'session.json'])
})

test('the last of two writers silently wins; here it is refused', needsReference, async (t) => {
  const directory = tempDir(t)
  const first = await reference(t, { parent: directory })
  await first.steps(append('a'), { do: 'save' })
  const { uuid } = await first.step({ do: 'ids' })
  const second = await reference(t, { parent: directory, uuid })
  await first.steps(append('of the first'), { do: 'save' })
  await second.steps(append('of the second'), { do: 'save' })
  const third = await reference(t, { parent: directory, uuid })
  assert.deepEqual(await third.ids(), ['a', 'of the second'])

  const ours = Session.create(directory)
  ours.activeContext.append(text('a'))
  await ours.save()
  const other = await Session.load(directory, ours.uuid)
  ours.activeContext.append(text('of the first'))
  await ours.save()
  other.activeContext.append(text('of the second'))
  const path = `${ours.sessionDir}/${ours.activeContextId}.json`
  await assert.rejects(other.save(), { name: 'ConflictError', code: 'ERR_CONFLICT', path })
  const again = await Session.load(directory, ours.uuid)
  assert.deepEqual(
    again.activeContext.messages.map(({ content }) => content[0].text),
    ['a', 'of the first'],
  )
})

test('a session that is collected overwrites newer files; here only a save writes', needsReference, async (t) => {
  const directory = tempDir(t)
  const first = await reference(t, { parent: directory })
  await first.steps(append('a'), { do: 'save' }, append('never saved'))
  const { uuid } = await first.step({ do: 'ids' })
  const second = await reference(t, { parent: directory, uuid })
  await second.steps(append('saved'), { do: 'save' })
  await first.steps({ do: 'collect' })
  const third = await reference(t, { parent: directory, uuid })
  assert.deepEqual(await third.ids(), ['a', 'never saved'])

  const ours = Session.create(directory)
  ours.activeContext.append(text('a'))
  await ours.save()
  ours.activeContext.append(text('never saved'))
  const { uuid: id } = ours
  ours.free()
  assert.deepEqual(ids((await Session.load(directory, id)).activeContext.messages), ['a'])
})

test('a context that was replaced before the first save is lost; here it is written', needsReference, async (t) => {
  const directory = tempDir(t)
  const theirs = await reference(t, { parent: directory })
  await theirs.steps(append('a'), append('b'), { do: 'sessionSequenceWindow', count: 1 }, { do: 'save' })
  const { uuid, contexts } = await theirs.step({ do: 'ids' })
  assert.deepEqual(readdirSync(join(directory, uuid)).sort(), [`${contexts[1]}.json`, 'session.json'])
  assert.equal((await theirs.context(1)).origin_context_id, contexts[0], 'its parent is in no file')

  const ours = Session.create(directory)
  const parent = ours.activeContext
  parent.append(text('a'))
  parent.append(text('b'))
  ours.rollingSequenceWindow(1)
  await ours.save()
  assert.deepEqual(ids((await (await Session.load(directory, ours.uuid)).loadContext(parent.id)).messages), ['a', 'b'])
})

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

test('_anchor_sequences are lost on saving; here they are saved', needsReference, async (t) => {
  const anchor = { do: 'addAnchor', name: 'notes', index: 0 }
  const theirs = await reference(t)
  await theirs.steps(
    append('a'),
    anchor,
    { do: 'fork', start: 0 },
    { do: 'save' },
    { do: 'load' },
    { do: 'fork', start: 0 },
  )
  assert.deepEqual((await theirs.context())['(anchor sequences)'], [])
  const names = ({ anchor_points: points }) => points.map(([name]) => name)
  assert.ok(!names(await theirs.context(1)).includes('notes'), 'the same fork has lost an anchor')

  const ours = session(text('a'))
  ours.activeContext.addAnchor('notes', 0)
  await ours.save()
  const again = await Session.load('parent', ours.uuid, { storage: ours.storage })
  assert.deepEqual(again.activeContext.rawDict._anchor_sequences, [0, 1, 2, 4])
  const forked = (of) => of.activeContext.fork({ start: 0 }).anchorPoints.map(([name]) => name)
  assert.deepEqual(forked(again), forked(ours))
  assert.ok(forked(again).includes('notes'))
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

test('a uuid leads out of the directory; here it is refused', needsReference, async (t) => {
  const directory = tempDir(t)
  const inside = join(directory, 'agents', 'helper')
  mkdirSync(inside, { recursive: true })
  const write = (at, uuid) => {
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'session.json'), sessionFile(uuid, 'c'))
    writeFileSync(join(at, 'c.json'), contextFile('c', { system: null, tools: null, prelude: [] }))
  }
  write(join(directory, 'secret'), '../../secret')
  const theirs = await reference(t, { parent: inside, uuid: '../../secret' })
  await theirs.steps(append('a'), { do: 'save' })
  assert.match(readFileSync(join(directory, 'secret', 'c.json'), 'utf8'), /"id": "a"/)
  // The content of a session.json decides where its session is saved.
  write(join(inside, 'x'), '../../secret')
  const misled = await reference(t, { parent: inside, uuid: 'x' })
  await misled.steps(append('b'), { do: 'save' })
  assert.match(readFileSync(join(directory, 'secret', 'c.json'), 'utf8'), /"id": "b"/)

  for (const uuid of ['../../secret', '../x', '..', '/etc', 'a/b', 'a\\b', '']) {
    await assert.rejects(Session.load(inside, uuid), { name: 'InvalidArgumentError', argument: 'uuid' }, uuid)
  }
  await assert.rejects(Session.load(inside, 'x'), { name: 'CorruptSessionError', field: 'uuid' })
  // The id of a context does not lead out either.
  for (const id of ['../../secret/c', '..', 'session']) {
    writeFileSync(join(inside, 'x', 'session.json'), sessionFile('x', id))
    await assert.rejects(Session.load(inside, 'x'), { name: 'CorruptSessionError', field: 'active_context_id' }, id)
    assert.throws(() => Context.fromDict({ id }), { name: 'InvalidArgumentError' }, id)
  }
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

test(
  'a message of a type that is not registered makes a session unreadable; here it is kept',
  needsReference,
  async (t) => {
    const prelude = [
      { do: 'append', anchor: 'messages', message: JSON.stringify({ ...text('a'), _type: 'FromAPlugin', extra: 1 }) },
    ]
    const context = contextFile('c', { system: null, tools: null, prelude })
    await assert.rejects(reference(t, { uuid: UUID, files: filesOf(context) }), /ValueError/)

    const ours = await loaded(filesOf(context))
    ours.activeContext.append(text('b'))
    ours.rollingSequenceWindow(1)
    await ours.save()
    const again = await Session.load('parent', UUID, { storage: ours.storage })
    const [kept] = (await again.loadContext('c')).messages
    assert.deepEqual([kept._type, kept.extra], ['FromAPlugin', 1])
  },
)

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

test('numbers are rewritten, large ones to invalid JSON; here they keep their text', needsReference, async (t) => {
  const numbers = '[1E2,1.50,1e16,1e400,-0,123456789012345678901234567890]'
  const prelude = [
    {
      do: 'append',
      anchor: 'messages',
      message: `{"role":"user","id":"a","content":[],"metadata":{"n":${numbers}}}`,
    },
  ]
  const files = filesOf(contextFile('c', { system: null, tools: null, prelude }))
  const written = (content) => /"n": (\[[^\]]*\])/.exec(content)[1].replace(/\s/g, '')
  const theirs = await reference(t, { uuid: UUID, files })
  await theirs.steps(append('b'), { do: 'save' })
  const saved = (await theirs.step({ do: 'files' })).files['c.json']
  assert.equal(written(saved), '[100.0,1.5,1e+16,Infinity,0,123456789012345678901234567890]')
  assert.throws(() => JSON.parse(saved), SyntaxError)

  const ours = await loaded(files)
  ours.activeContext.append(text('b'))
  await ours.save()
  assert.equal(written(new TextDecoder().decode(await ours.storage.read(`parent/${UUID}/c.json`))), numbers)
})

test(
  'files may be JSON5, with comments and Infinity; here they must be JSON, and the error names the fault',
  needsReference,
  async (t) => {
    for (const metadata of ['/* a */ {}', "{'a': 1}", '{"a": Infinity}', '{"a": NaN}', '{"a": 1,}']) {
      const context = `{"messages":[{"role":"user","id":"a","content":[],\n"metadata":${metadata}}],"id":"c"}`
      const theirs = await reference(t, { uuid: UUID, files: filesOf(context) })
      await theirs.steps({ do: 'count', encodings: ['cl100k_base'] })
      await assert.rejects(
        loaded(filesOf(context)),
        { name: 'CorruptSessionError', path: `parent/${UUID}/c.json`, line: 2 },
        metadata,
      )
    }
  },
)
