// Errors point at the caller: the first frame of their stack is the line that called the package, not one of its own.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run, runModule, tempDir } from '../support/files.mjs'
import { load, packageDir } from '../support/installed.mjs'

const peteos = await load('peteos-session')
const { NodeFileStorage } = await load('peteos-session/node')
const { IndexedDBStorage, OPFSStorage } = await load('peteos-session/browser-storage')
const { ContentPart, Context, MemoryStorage, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } = peteos

const storage = new MemoryStorage()
const session = Session.create('agents', { storage })
const context = session.activeContext
const freed = Context.create()
freed.free()
const freedSession = Session.create('agents', { storage })
const { state: freedState } = freedSession
freedSession.free()

const SYNCHRONOUS = {
  'Session.create': () => Session.create(5),
  'set session.autoApproveTools': () => (session.autoApproveTools = 5),
  'set session.isActive': () => (session.isActive = 5),
  'set session.rawDict': () => (session.rawDict = 5),
  'session.setActiveContext': () => session.setActiveContext({}),
  'session.saveSync': () => freedSession.saveSync(),
  'session.rollingSequenceWindow': () => session.rollingSequenceWindow(-1),
  'session.rollingTokenWindow': () => session.rollingTokenWindow(-1),
  'session.registerHook': () => session.registerHook({ id: 'none' }, 'x', () => ''),
  'session.toJSON': () => freedSession.toJSON(),
  'state.get': () => session.state.get(5),
  'state.create': () => session.state.create(5, ''),
  'state.update': () => session.state.update('none', '', ''),
  'state.delete': () => session.state.delete('none'),
  'state.list': () => freedState.list(),
  'Context.create': () => Context.create({ parentContext: {} }),
  'Context.fromDict': () => Context.fromDict(5),
  'set context.rawDict': () => (context.rawDict = 5),
  'context.append': () => context.append({ role: 'nobody' }),
  'context.updateMessage': () => context.updateMessage('none', {}),
  'context.addAnchor': () => context.addAnchor('messages', 0),
  'context.fork': () => context.fork({ start: 'x' }),
  'context.stripThinking': () => freed.stripThinking(),
  'context.rollingSequenceWindow': () => context.rollingSequenceWindow(-1),
  'context.rollingTokenWindow': () => context.rollingTokenWindow(-1),
  'context.planSequenceWindow': () => context.planSequenceWindow(-1),
  'context.planTokenWindow': () => context.planTokenWindow(-1),
  'context.totalTokenCount': () => context.totalTokenCount('none'),
  'context.tokenCounts': () => context.tokenCounts('none'),
  'context.tokenCounts with a counter, after free': () => freed.tokenCounts(undefined, { counter: () => 1 }),
  'context.toJSON': () => freed.toJSON(),
  'Message.create': () => Message.create('nobody'),
  'SystemPromptMessage.create': () => SystemPromptMessage.create(5n),
  'ToolDefinitionsMessage.create': () => ToolDefinitionsMessage.create([5]),
  'ContentPart.toolUse': () => ContentPart.toolUse('1', 'f', { x: 5n }),
  countTokens: () => peteos.countTokens('x', 'none'),
  encode: () => peteos.encode('x', 'none'),
  decode: () => peteos.decode('x'),
  encodingForModel: () => peteos.encodingForModel('none'),
  check: () => peteos.check(context, 'none'),
  toMessages: () => peteos.toMessages(context, 'none'),
  fromMessages: () => peteos.fromMessages(5, 'anthropic'),
  'new NodeFileStorage': () => new NodeFileStorage({ mode: 'x' }),
  'new IndexedDBStorage': () => new IndexedDBStorage({ name: 5 }),
  'new OPFSStorage': () => new OPFSStorage({ name: 5 }),
}
for (const getter of Object.keys(Object.getOwnPropertyDescriptors(Context.prototype))) {
  const { get } = Object.getOwnPropertyDescriptor(Context.prototype, getter)
  // These two are not public, and have no caller to point at.
  if (get === undefined || getter === 'isFreed' || getter === 'handle' || getter === 'storedMessages') continue
  SYNCHRONOUS[`context.${getter}`] = () => freed[getter]
}

const ASYNCHRONOUS = {
  'Session.load': () => Session.load('agents', '..', { storage }),
  'Session.load of a session that does not exist': () => Session.load('agents', 'none', { storage }),
  'Session.check': () => Session.check('agents', 'none', { storage }),
  'Session.repair': () => Session.repair('agents', 'none', { storage }),
  'Session.list': () => Session.list(5, { storage }),
  'session.save': () => session.save({ onConflict: 'none' }),
  'session.loadContext': () => session.loadContext('none'),
  'session.listContexts': () => freedSession.listContexts(),
  'session.materialize': () => freedSession.materialize(),
  loadEncoding: () => peteos.loadEncoding('none'),
}

/** The frames of a stack, which begins with the name and the message. */
function framesOf({ name, message, stack }) {
  const header = `${name}: ${message}\n`
  assert.ok(stack.startsWith(header), stack)
  return stack.slice(header.length).split('\n')
}

const here = fileURLToPath(import.meta.url)
const lines = readFileSync(here, 'utf8').split('\n')

for (const [name, call] of Object.entries(SYNCHRONOUS)) {
  test(`${name}: the first frame is the line of the call`, () => {
    let error
    assert.throws(call, (thrown) => {
      error = thrown
      return thrown instanceof peteos.SessionError
    })
    const [first] = framesOf(error)
    assert.ok(first.includes('error-stacks.test.mjs:'), error.stack)
    const line = lines[Number(/:(\d+):\d+\)?$/.exec(first)?.[1]) - 1]
    // The getters share a line.
    assert.ok(line.includes('=> '), `${first}\n${line}`)
    if (name in ASYNCHRONOUS || !line.includes('freed[getter]'))
      assert.ok(line.trim().startsWith(`'${name}':`) || line.trim().startsWith(`${name}:`), line)
  })
}

for (const [name, call] of Object.entries(ASYNCHRONOUS)) {
  test(`${name}: the stack of the rejection has the line of the call`, async () => {
    const error = await call().then(
      () => assert.fail('resolved'),
      (reason) => reason,
    )
    assert.ok(error instanceof peteos.SessionError, String(error))
    const [first] = framesOf(error)
    assert.ok(first.includes('error-stacks.test.mjs:'), error.stack)
  })
}

test('an error of a failing adapter points at the caller of save, and its cause is untouched', async () => {
  const cause = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
  const { stack } = cause
  const failing = Object.assign(new MemoryStorage(), { write: () => Promise.reject(cause) })
  const broken = Session.create('agents', { storage: failing })
  const error = await broken.save().then(
    () => assert.fail('resolved'),
    (reason) => reason,
  )
  assert.ok(framesOf(error)[0].includes('error-stacks.test.mjs:'), error.stack)
  assert.deepEqual([error.name, error.code, error.cause, cause.stack], ['StorageError', 'ENOSPC', cause, stack])
})

test("an error of a call within a callback points at the callback, and a user's own error keeps its stack", () => {
  context.append({ role: 'user', content: [{ type: 'text', text: 'x' }] })
  const counter = () => peteos.countTokens('x', 'none') // the inner call
  assert.throws(
    () => context.tokenCounts(undefined, { counter }),
    (error) => {
      const line = lines[Number(/:(\d+):\d+\)?$/.exec(framesOf(error)[0])?.[1]) - 1]
      return line.includes('the inner call')
    },
  )
  const own = new Error('own')
  const { stack } = own
  assert.throws(
    () =>
      context.tokenCounts(undefined, {
        counter: () => {
          throw own
        },
      }),
    (error) => error === own && error.stack === stack,
  )
})

test('functions and methods keep their names and the number of their parameters', () => {
  assert.deepEqual([peteos.countTokens.name, peteos.encode.length, Session.load.name], ['countTokens', 2, 'load'])
  assert.equal(Context.prototype.append.name, 'append')
})

test('stacks point at the caller in CommonJS, and in an engine without captureStackTrace', async (t) => {
  const script = join(tempDir(t), 'caller.cjs')
  const source = `const { Context } = require(${JSON.stringify(packageDir)})
    if (process.argv[2] === 'without') delete Error.captureStackTrace
    try { Context.create().append({}) } catch (error) { console.log(error.stack) }`
  writeFileSync(script, source)
  for (const engine of ['with', 'without']) {
    const output = await run(process.execPath, [script, engine])
    const frame = output.split('\n').find((line) => line.trim().startsWith('at '))
    assert.ok(frame.includes('caller.cjs:3'), `${engine}: ${output}`)
  }
})

test('stacks point at the caller in ES modules', async () => {
  const output = await runModule(`import { Message } from 'peteos-session'
    const caller = () => Message.create('nobody')
    try { caller() } catch (error) { console.log(error.stack.split('\\n')[1]) }`)
  assert.match(output, /^\s+at caller/)
})
