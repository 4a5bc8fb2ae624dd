// The public types, as a user's compiler sees them.
import { test } from 'node:test'
import { compiles } from '../support/compile.mjs'

const IMPORTS = `import {
  Session, Context, SystemPromptMessage, ToolDefinitionsMessage, Message, ContentPart, MemoryStorage, countTokens, encodingForModel, loadEncoding, init,
  SessionError, SessionNotFoundError, ContextNotFoundError, CorruptSessionError, ConflictError, InvalidArgumentError, InvalidMessageError, UnknownEncodingError,
  EncodingNotLoadedError, StorageError, WindowTooSmallError,
} from 'peteos-session'
import type { SessionMessage, StoredMessage, WindowReport, TokenWindowOptions, WindowReason, SessionStorage, EncodingName, SessionSummary, ContextDict, SessionDict } from 'peteos-session'
import { NodeFileStorage } from 'peteos-session/node'
import type { NodeFileStorageOptions } from 'peteos-session/node'
import { IndexedDBStorage, OPFSStorage } from 'peteos-session/browser-storage'
import { storageConformance } from 'peteos-session/testing'
import type { ConformanceCase } from 'peteos-session/testing'
`

const RIGHT = `${IMPORTS}
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const check = <T extends true>(): T | void => undefined

export async function main(): Promise<void> {
  const storage: SessionStorage = new MemoryStorage()
  const onDisk: SessionStorage = new NodeFileStorage({ root: '/tmp' })
  new NodeFileStorage()
  const nodeOptions: NodeFileStorageOptions = { mode: 0o600, durability: 'unsafe-on-power-loss', lockTimeout: 5000 }
  const locked: number = await new NodeFileStorage(nodeOptions).lock('a', async () => 5)
  const stores: SessionStorage[] = [new IndexedDBStorage(), new OPFSStorage({ name: 'a', lockTimeout: 5 })]
  const cases: ConformanceCase[] = storageConformance(() => stores[0] ?? storage)
  for (const { name, run } of cases) { const result: 'passed' | 'not offered' = await run(); void [name, result, locked] }
  const session = Session.create('agents/helper', {
    systemPromptMessage: SystemPromptMessage.create('You are a careful assistant.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([{ name: 'f', description: 'd', parameters: { type: 'object', properties: { a: { type: 'string' } } } }]),
    storage,
  })
  Session.create('a')
  Session.create('a', { storage: onDisk })
  const context = session.activeContext!
  const stored = context.append(Message.create('user', [ContentPart.text('Hi')], { a: [1, { b: null }] }))
  check<Equal<typeof stored, StoredMessage>>()
  const id: string = stored.id
  const when: string = stored.creation_timestamp
  context.append({ role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] })
  context.append({ role: 'assistant', content: [ContentPart.thinking('x'), ContentPart.toolUse('c', 'f', { a: 1 }), ContentPart.toolUse('c', 'f', '{}')], metadata: { mood: 'good' } }, 'messages')
  context.append(Message.create('user', 'Hi'))
  session.append(Message.create('user', 'Hi'), 'messages')
  context.append({ role: 'assistant', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }, { type: 'redacted_thinking', data: 'x' }] })
  const transcript: StoredMessage[] = await session.transcript()
  const active: boolean = context.isActive
  const exact: number = context.planTokenWindow(5).tokensBefore + (context.planTokenWindow(5).tokens[id] ?? 0)
  void [transcript, active, exact]
  context.append({ role: 'tool', content: [ContentPart.toolResult('c', 'x'), ContentPart.toolResult('c', [ContentPart.text('x')], { isError: true, status: 'aborted' })] })
  context.append({ role: 'user', content: [ContentPart.image({ type: 'url', url: 'x' }), ContentPart.pdf({ type: 'base64', data: 'x', media_type: 'y' })] })
  context.append(stored)
  for (const message of context.messages) {
    const role: 'user' | 'assistant' | 'system' | 'tool' | (string & {}) = message.role
    for (const part of message.content ?? []) {
      if (part.type === 'text') { const text: string = part.text; void text }
      if (part.type === 'tool_use') { const args: string = part.arguments; void args }
    }
    void role
  }
  const saved: Promise<void> = session.save()
  await saved
  const again: Session = await Session.load('agents/helper', session.uuid, { storage })
  const window: Context | null = again.rollingSequenceWindow(20)
  again.rollingTokenWindow(4000)
  again.rollingTokenWindow(4000, 'cl100k_base')
  again.rollingTokenWindow(4000, 'o200k_base', { boundary: 'message' })
  window?.addAnchor('notes', 0, { afterExisting: false })
  const report: WindowReport = context.planTokenWindow(5, 'gpt2')
  check<Equal<typeof report.tokensBefore, number | null>>()
  const options: TokenWindowOptions = {
    boundary: 'turn', hysteresis: { to: 5 }, pin: [id] as const, reserve: 1,
    media: (part) => (part.source.type === 'url' ? 85 : part.source.data.length),
    counter: (text, message) => text.length + message.id.length,
  }
  again.rollingTokenWindow(4000, undefined, options)
  again.rollingSequenceWindow(4, { boundary: 'exchange', pin: [] })
  context.totalTokenCount('o200k_base', { media: 'reference' })
  context.tokenCounts(undefined, { media: 85, counter: (text) => text.length })
  const reasons: WindowReason[] = report.messages.map(({ reason }) => reason)
  const thought: number | undefined = report.tokensByPart?.after.thinking
  const byRole: number | undefined = report.tokensByRole?.before['user']
  for (const { id, callId, problem } of report.broken) { const broken: string = id + callId + problem; void broken }
  try { context.planSequenceWindow(0, { boundary: 'turn' }) } catch (error) {
    if (error instanceof WindowTooSmallError) { const needed: number = error.limit + error.needed + (error.specialTokens ?? 0); void needed }
  }
  void [reasons, thought, byRole]
  const kept: readonly string[] = report.kept
  const tokens: number | undefined = report.tokens?.[id]
  const fork = context.fork({ start: -5, end: 7, systemPromptMessage: SystemPromptMessage.create('x') })
  check<Equal<typeof fork, Context>>()
  const total: number = context.totalTokenCount()
  const counts: number[] = context.tokenCounts('p50k_edit')
  const encoding: EncodingName = encodingForModel('gpt-4o')
  const count: number = countTokens('x', encoding)
  await loadEncoding('o200k_harmony')
  await init()
  const summaries: SessionSummary[] = await Session.list('agents', { storage, onError: (error) => { const code: string = error.code; void code } })
  const date: Date | null | undefined = summaries[0]?.modifiedAt
  session.autoApproveTools = ['a']
  session.isActive = true
  session.state.create('a', 'b')
  const value: string | null = session.state.get('a')
  const dict: SessionDict = session.rawDict
  session.rawDict = { ...dict, custom: 1 }
  const contextDict: ContextDict = context.rawDict
  context.rawDict = contextDict
  session.setActiveContext(Context.fromDict(contextDict))
  session.setActiveContext(Context.create({ parentContext: context }))
  const other: Context = await session.loadContext('c')
  const ids: string[] = await session.listContexts()
  try {
    other.stripThinking()
  } catch (error) {
    if (error instanceof CorruptSessionError) { const line: number = error.line; const path: string = error.path; void [line, path] }
    else if (error instanceof StorageError) { const cause: unknown = error.cause; const code: string = error.code; void [cause, code] }
    else if (error instanceof UnknownEncodingError) { const known: readonly string[] = error.known; void known }
    else if (error instanceof InvalidMessageError) { const field: string = error.field; void field }
    else if (error instanceof InvalidArgumentError) { const argument: string = error.argument; void argument }
    else if (error instanceof SessionError) { const code: string = error.code; void code }
    void [SessionNotFoundError, ContextNotFoundError, ConflictError, EncodingNotLoadedError]
  }
  session.free()
  context.free()
  void [when, kept, tokens, total, counts, count, date, value, ids]
}

/** Synchronous and asynchronous adapters. */
export const adapter: SessionStorage = {
  read: (path) => (path === '' ? null : new Uint8Array()),
  write: async (path, data) => { const text: string = path; const bytes: Uint8Array = data; void [text, bytes] },
  list: () => [],
  remove: () => undefined,
}

export class MyStorage implements SessionStorage {
  async read(path: string): Promise<Uint8Array | null> { return path ? null : new Uint8Array() }
  async write(_path: string, _data: Uint8Array): Promise<void> {}
  async list(_directory: string): Promise<string[]> { return [] }
  async remove(_path: string): Promise<void> {}
  async digest(_path: string): Promise<string | null> { return null }
  async lock<T>(_directory: string, work: () => Promise<T>): Promise<T> { return work() }
  writeSync(_path: string, _data: Uint8Array): void {}
  digestSync(_path: string): string | null { return null }
}

export function helper(message: SessionMessage, owned: Message, part: ContentPart, prompt: SystemPromptMessage, tools: ToolDefinitionsMessage): string {
  const context = Context.create({ systemPromptMessage: prompt, toolDefinitionsMessage: tools })
  context.append(message)
  context.append({ ...owned, content: [part] })
  return owned.id
}
`

/** Calls that must not compile, one per line. */
const WRONG = [
  "session.rollingSequenceWindow('5')",
  'session.rollingSequenceWindow()',
  "session.rollingTokenWindow(5, 'nope')",
  "session.rollingTokenWindow(5, 'gpt2', { boundary: 'sentence' })",
  "session.rollingTokenWindow(5, 'gpt2', { bounday: 'message' })",
  "context.append({ role: 'robot' })",
  'context.append({})',
  "context.append({ role: 'user', content: 'Hi' })",
  "context.append({ role: 'user', content: [{ type: 'text' }] })",
  "context.append({ role: 'user', content: [{ type: 'text', text: 5 }] })",
  "context.append({ role: 'user', content: [{ type: 'tool_use', call_id: 'c', name: 'f', arguments: {} }] })",
  "context.append({ role: 'user', metadata: 5 })",
  "context.append({ role: 'user' }, 5)",
  "context.append('Hi')",
  "context.addAnchor('a')",
  "context.addAnchor('a', 0, { afterExisting: 'yes' })",
  "context.fork({ start: '1' })",
  "context.fork({ systemPrompt: SystemPromptMessage.create('x') })",
  "Session.create('a', { systemPrompt: SystemPromptMessage.create('x') })",
  "Session.create('a', { storage: {} })",
  'Session.create()',
  "new NodeFileStorage({ durability: 'none' })",
  'new OPFSStorage({ nam: 1 })',
  'new Session()',
  'new Context()',
  "Session.load('a')",
  'context.messages.push(stored)',
  "context.messages[0]!.role = 'user'",
  "context.messages[0]!.id = 'x'",
  'context.anchorPoints[0]![1] = 5',
  "context.children.push('x')",
  "session.autoApproveTools.push('x')",
  "session.uuid = 'x'",
  'session.rawDict.is_active = true',
  "context.id = 'x'",
  'session.activeContext = context',
  'session.setActiveContext(null)',
  'session.setActiveContext(context.rawDict)',
  'session.autoApproveTools = [5]',
  "session.isActive = 'yes'",
  "session.state.create('a', 5)",
  "session.state.get('a').length",
  'session.rollingSequenceWindow(5).messages',
  'countTokens(5)',
  "countTokens('x', 'nope')",
  "loadEncoding('nope')",
  'encodingForModel(5)',
  "Message.create('robot', [])",
  "context.append({ role: 'user', contents: [] })",
  "context.append({ role: 'user', mood: 'good' })",
  "Message.create('user', 5)",
  "Message.create('user', [], 'x')",
  "ContentPart.image('x')",
  "ContentPart.image({ type: 'url' })",
  "ContentPart.toolUse('c', 'f', 5)",
  "ContentPart.toolResult('c', {})",
  "ContentPart.toolResult('c', 'x', { error: true })",
  "ContentPart.toolResult('c', [ContentPart.toolUse('c', 'f', {})])",
  "context.append({ role: 'user', content: [{ type: 'text', text: 'x', cache_control: true }] })",
  "ToolDefinitionsMessage.create([{ description: 'x' }])",
  'SystemPromptMessage.create(5)',
  "report.kept.push('x')",
  "report.messages[0]!.reason = 'recent'",
  "context.planTokenWindow(5, 'gpt2', { boundary: 'sentence' })",
  "context.planTokenWindow(5, 'gpt2', { hysteresis: 5 })",
  "context.planTokenWindow(5, 'gpt2', { hysteresis: {} })",
  "context.planTokenWindow(5, 'gpt2', { pin: 'id' })",
  "context.planTokenWindow(5, 'gpt2', { media: 'none' })",
  "context.planTokenWindow(5, 'gpt2', { counter: () => 'x' })",
  'context.planSequenceWindow(5, { reserve: 5 })',
  "const reason: WindowReason = 'why'; void reason",
  'const options: TokenWindowOptions = { counter: (text: number) => text }; void options',
  'report.limit = 5',
  "const bad: SessionStorage = { read: () => 'text', write() {}, list: () => [], remove() {} }; void bad",
  'const bad: SessionStorage = { read: () => null, write() {}, list: () => [] }; void bad',
  "import('peteos-session/nothing')",
]

const WRONG_SOURCE = `${IMPORTS}
declare const session: Session
declare const context: Context
declare const stored: StoredMessage
declare const report: WindowReport
export function wrong(): void {
${WRONG.map((line) => `  // @ts-expect-error\n  { ${line} }`).join('\n')}
}
void [MemoryStorage, NodeFileStorage, init, SessionError, SessionNotFoundError, ContextNotFoundError, CorruptSessionError, ConflictError, InvalidArgumentError,
  InvalidMessageError, UnknownEncodingError, EncodingNotLoadedError, StorageError, WindowTooSmallError, loadEncoding, encodingForModel, countTokens]
export type Unused = [SessionMessage, EncodingName, SessionSummary, ContextDict, SessionDict]
`

const PROJECTS = {
  'ES modules, nodenext': [{ module: 'nodenext' }, { type: 'module' }],
  'CommonJS, node16': [{ module: 'node16', moduleResolution: 'node16' }, { type: 'commonjs' }],
  'a bundler': [{ module: 'esnext', moduleResolution: 'bundler' }, { type: 'module' }],
  'a library of the newest language': [{ module: 'nodenext', lib: ['esnext'] }, { type: 'module' }],
  'a browser page': [{ module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] }, { type: 'module' }],
}

for (const [name, [options, manifest]] of Object.entries(PROJECTS)) {
  test(`correct calls compile, strictly and with the declarations checked: ${name}`, async (t) => {
    await compiles(t, { 'right.ts': RIGHT }, options, manifest)
  })
}

test('wrong calls do not compile', async (t) => {
  await compiles(t, { 'wrong.ts': WRONG_SOURCE }, { module: 'nodenext', skipLibCheck: true, lib: ['es2022', 'dom'] })
})

test('wrong calls do not compile under require', async (t) => {
  const options = { module: 'node16', moduleResolution: 'node16', skipLibCheck: true, lib: ['es2022', 'dom'] }
  await compiles(t, { 'wrong.ts': WRONG_SOURCE }, options, { type: 'commonjs' })
})

test('an ES module and a CommonJS file of one project compile, with the other entries', async (t) => {
  const use = `
    import { Session, MemoryStorage, init } from 'peteos-session/slim'
    import { countTokens } from 'peteos-session/inline'
    export const run = async (): Promise<number> => { await init(new Uint8Array()); Session.create('a', { storage: new MemoryStorage() }); return countTokens('x') }
  `
  const files = {
    'one.mts': use,
    'two.cts': use,
    'three.mts': "import two = require('./two.cjs')\nimport { run } from './one.mjs'\nvoid [two.run(), run()]",
  }
  await compiles(t, files, { module: 'nodenext', lib: ['es2022', 'dom'] })
})

test('using compiles if the language has it', async (t) => {
  const source = `
    import { Context, Session } from 'peteos-session'
    export function work(): number {
      using session = Session.create('a')
      using context = Context.create()
      return context.messageCount + session.uuid.length
    }
    export async function agent(): Promise<void> {
      await using session = Session.create('a')
      process.on('exit', () => session.saveSync())
    }
    declare const process: { on(event: 'exit', listener: () => void): void }
  `
  await compiles(t, { 'using.ts': source }, { module: 'nodenext', lib: ['esnext', 'dom'], target: 'esnext' })
})
