// Faults of the reference in reading and writing files that this package does not copy: each is shown on the unpatched
// reference, next to the behaviour of the package. docs/reference-differences.md lists them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needsReference } from './oracle.mjs'
import { Context, entry, MemoryStorage, Session } from './support/package.mjs'
import { append, filesOf, ids, loaded, reference, session, tempDir, text, UUID } from './support/unpatched.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

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
