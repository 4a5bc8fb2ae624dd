// The error classes: their fields, and how to tell them apart.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { checkError } from '../support/errors.mjs'
import { runModule } from '../support/files.mjs'
import { load, packageDir, require } from '../support/installed.mjs'
import { RecordingStorage } from '../support/storages.mjs'

const peteos = await load('peteos-session')
const { Context, Session, countTokens } = peteos

const cause = Object.assign(new Error('disk is full'), { code: 'ENOSPC' })
const failing = () =>
  Object.assign(new RecordingStorage(), {
    write: () => {
      throw cause
    },
  })
const stored = (files) => ({ storage: new RecordingStorage(files) })

/** For each class a call that throws it, its code, and its own fields. */
const CASES = {
  SessionNotFoundError: [() => Session.load('a', 's', stored()), 'ENOENT', { path: 'a/s/session.json' }],
  ContextNotFoundError: [
    () => Session.create('a', stored()).loadContext('c'),
    'ERR_CONTEXT_NOT_FOUND',
    { id: 'c', path: /^a\/.+\/c\.json$/ },
  ],
  CorruptSessionError: [
    () => Session.load('a', 's', stored({ 'a/s/session.json': '{\n "is_active": 5}' })),
    'ERR_CORRUPT_SESSION',
    { path: 'a/s/session.json', line: 2, column: 15, field: 'is_active' },
  ],
  ConflictError: [
    () => {
      const { state } = Session.create('a', stored())
      state.create('n', '1')
      state.update('n', '2', '3')
    },
    'ERR_CONFLICT',
    { variable: 'n' },
  ],
  InvalidArgumentError: [
    () => Context.create().rollingSequenceWindow(-1),
    'ERR_INVALID_ARGUMENT',
    { argument: 'count' },
  ],
  NoActiveContextError: [
    () => {
      const session = Session.create('a')
      session.rawDict = { ...session.rawDict, active_context_id: null }
      session.append({ role: 'user' })
    },
    'ERR_NO_ACTIVE_CONTEXT',
    { message: /setActiveContext/ },
  ],
  InvalidMessageError: [
    () => Context.create().append({ role: 'user', content: [{ type: 'text' }] }),
    'ERR_INVALID_MESSAGE',
    { argument: 'message', field: 'content[0].text' },
  ],
  NoSavingError: [
    () => {
      const context = Context.create()
      const { id } = context.append({ role: 'user', content: [{ type: 'text', text: 'a' }] })
      context.summarize({ until: id, text: 'a longer text than that' })
    },
    'ERR_NO_SAVING',
    { tokens: 19, replaced: 15 },
  ],
  UnknownEncodingError: [() => countTokens('x', 'nope'), 'ERR_UNKNOWN_ENCODING', { argument: 'encoding' }],
  StorageError: [
    () => Session.create('a', { storage: failing() }).save(),
    'ENOSPC',
    { operation: 'write', path: /^a\/.+\.json$/, cause },
  ],
  DisposedError: [
    () => {
      const context = Context.create()
      context.free()
      return context.id
    },
    'ERR_DISPOSED',
    {},
  ],
}

async function caught(work) {
  try {
    await work()
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

for (const [name, [work, code, fields]] of Object.entries(CASES)) {
  test(`${name} has a stable code, its fields, and a message`, async () => {
    const error = checkError(await caught(work), name, { code, ...fields })
    assert.equal(Object.prototype.toString.call(error), '[object Error]')
    assert.ok(error.stack.includes(error.message))
    assert.ok(inspect(error).includes(code))
    assert.equal(String(error), `${name}: ${error.message}`)
    assert.equal(error.constructor, require('peteos-session')[name])
    if (name !== 'StorageError') assert.equal('cause' in error, false)
    for (const key of Object.keys(fields)) {
      if (typeof fields[key] === 'string' && key !== 'argument')
        assert.ok(error.message.includes(fields[key]), `${key} is in: ${error.message}`)
    }
  })
}

test('classes can be told apart by instanceof', async () => {
  for (const [name, [work]] of Object.entries(CASES)) {
    const error = await caught(work)
    const parents =
      { InvalidMessageError: ['InvalidArgumentError'], UnknownEncodingError: ['InvalidArgumentError'] }[name] ?? []
    for (const other of Object.keys(CASES)) {
      assert.equal(
        error instanceof peteos[other],
        other === name || parents.includes(other),
        `${name} instanceof ${other}`,
      )
    }
  }
})

test('EncodingNotLoadedError and NotInitializedError say what to call', async () => {
  const output = await runModule(`
    import { readFileSync } from 'node:fs'
    import { countTokens, init, EncodingNotLoadedError, NotInitializedError, SessionError } from 'peteos-session/slim'
    const attempt = () => { try { countTokens('x', 'o200k_base') } catch (error) { return [error.name, error.code, error.message, error.encoding,
      error instanceof SessionError, error instanceof EncodingNotLoadedError, error instanceof NotInitializedError] } }
    const before = attempt()
    await init(readFileSync(${JSON.stringify(join(packageDir, 'dist', 'peteos_session_bg.wasm'))}))
    console.log(JSON.stringify([before, attempt()]))
  `)
  const [before, after] = JSON.parse(output)
  assert.deepEqual(
    [before[0], before[1], ...before.slice(4)],
    ['NotInitializedError', 'ERR_NOT_INITIALIZED', true, false, true],
  )
  assert.match(before[2], /await init\(\)/)
  assert.deepEqual(
    [after[0], after[1], ...after.slice(3)],
    ['EncodingNotLoadedError', 'ERR_ENCODING_NOT_LOADED', 'o200k_base', true, true, false],
  )
  assert.match(after[2], /await loadEncoding\('o200k_base'\)/)
})

test('docs/api.md lists the codes', () => {
  const page = readFileSync(join(packageDir, 'docs', 'api.md'), 'utf8')
  for (const [name, [, code]] of Object.entries(CASES)) {
    if (name === 'StorageError') continue
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``))
    assert.ok(row?.includes(code), `${name} with ${code}`)
  }
})
