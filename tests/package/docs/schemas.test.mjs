// The JSON Schemas of docs/format.md describe the files: every fixture and every file of a generated session is valid, and
// files that break the format are not.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import Ajv2020 from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { fencedBlocks } from '../support/code-blocks.mjs'
import { filesUnder, load, packageDir, root } from '../support/installed.mjs'

const { ContentPart, MemoryStorage, Message, Session, SystemPromptMessage, ToolDefinitionsMessage } =
  await load('peteos-session')

const schema = (name) => JSON.parse(readFileSync(join(packageDir, 'docs', 'schemas', `${name}.schema.json`), 'utf8'))
// `strictRequired` and `strictTypes` would ask for `properties` and `type` to be repeated in each branch.
const ajv = new Ajv2020.default({ strict: true, strictRequired: false, strictTypes: false, allErrors: true })
const SCHEMAS = { session: ajv.compile(schema('session')), context: ajv.compile(schema('context')) }

const EMPTY_CONTEXT = {
  messages: [],
  id: 'a',
  content_map: {},
  anchor_points: [],
  message_sequence: 0,
  _mutation_counter: 0,
  children: [],
}
const kindOf = (name) => (name === 'session.json' ? 'session' : 'context')

function assertValid(kind, file, about) {
  const validate = SCHEMAS[kind]
  assert.ok(validate(file), `${about}: ${ajv.errorsText(validate.errors?.slice(0, 3))}`)
}

test('the fixtures are valid', () => {
  const demo = filesUnder(join(root, 'examples', 'demo-session')).filter((file) => file.endsWith('.json'))
  const golden = JSON.parse(readFileSync(join(root, 'tests', 'reference', 'golden', 'bytes.json'), 'utf8'))
  const files = [
    ...demo.map((file) => [basename(file), readFileSync(file, 'utf8')]),
    ...Object.entries(golden.before),
    ...Object.entries(golden.after),
  ]
  assert.ok(files.length >= 6)
  for (const [name, text] of files) assertValid(kindOf(name), JSON.parse(text), name)
})

test('the examples of docs/format.md are valid', () => {
  const blocks = fencedBlocks(readFileSync(join(packageDir, 'docs', 'format.md'), 'utf8'))
  const [session, message] = blocks
    .filter(({ language }) => language === 'json')
    .map(({ source }) => JSON.parse(source))
  assertValid('session', session, 'session.json')
  assertValid('context', { ...EMPTY_CONTEXT, messages: [message] }, 'a message')
})

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const name = fc.stringMatching(/^[a-z_]{1,12}$/)
const source = fc.oneof(
  fc.record({
    type: fc.constant('base64'),
    data: fc.base64String({ maxLength: 24 }),
    media_type: fc.constant('image/png'),
  }),
  fc.record({ type: fc.constant('url'), url: fc.webUrl() }),
)
const part = fc.oneof(
  text.map(ContentPart.text),
  text.map(ContentPart.thinking),
  ...['image', 'video', 'audio', 'pdf'].map((kind) => source.map(ContentPart[kind])),
  fc.tuple(name, name, fc.dictionary(name, fc.jsonValue())).map((values) => ContentPart.toolUse(...values)),
  fc.tuple(name, text).map((values) => ContentPart.toolResult(...values)),
  fc.record({ type: fc.constant('of_a_later_version'), value: fc.jsonValue() }),
)
const message = fc
  .tuple(
    fc.constantFrom('user', 'assistant', 'system', 'tool', 'tool_result'),
    fc.array(part, { maxLength: 3 }),
    fc.option(fc.dictionary(name, fc.jsonValue()), { nil: undefined }),
  )
  .map((values) => Message.create(...values))
const toolDefinitions = fc
  .array(fc.record({ name, description: text, parameters: fc.constant({ type: 'object' }) }), { maxLength: 2 })
  .map((tools) => ToolDefinitionsMessage.create(tools))
/** Changes to a session: `(session) => void`. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: message.map(
      (message) =>
        ({ activeContext }) =>
          activeContext.append(message),
    ),
  },
  fc.tuple(name, fc.nat(3)).map(([name, index]) => ({ activeContext: context }) => {
    if (!context.anchorPoints.some(([taken]) => taken === name))
      context.addAnchor(name, Math.min(index, context.messageCount))
  }),
  fc.nat(4).map((count) => (session) => session.rollingSequenceWindow(count)),
  fc.nat(200).map((budget) => (session) => session.rollingTokenWindow(budget, 'r50k_base')),
  fc
    .integer({ min: -3, max: 5 })
    .map((start) => (session) => session.setActiveContext(session.activeContext.fork({ start }))),
  fc.constant((session) => session.setActiveContext(session.activeContext.stripThinking())),
  fc.tuple(name, text).map(
    ([name, value]) =>
      ({ state }) =>
        state.list().includes(name) || state.create(name, value),
  ),
  fc.array(name, { maxLength: 2 }).map((tools) => (session) => void (session.autoApproveTools = tools)),
  fc.constant((session) => {
    const { systemPromptMessage } = session.activeContext
    if (systemPromptMessage !== null) session.registerHook(systemPromptMessage, 'time', () => 'It is noon.')
  }),
)

test('every file of a generated session is valid', async () => {
  const specials = {
    systemPromptMessage: fc.option(text.map(SystemPromptMessage.create), { nil: undefined }),
    toolDefinitionsMessage: fc.option(toolDefinitions, { nil: undefined }),
  }
  await fc.assert(
    fc.asyncProperty(fc.record(specials), fc.array(step, { maxLength: 15 }), async (specials, steps) => {
      const storage = new MemoryStorage()
      const session = Session.create('parent', { ...specials, storage })
      for (const [index, step] of steps.entries()) {
        step(session)
        if (index % 4 === 0) await session.save()
      }
      await session.materialize()
      await session.save()
      const names = await storage.list(session.sessionDir)
      assert.ok(names.includes('session.json') && names.length >= 2)
      for (const name of names) {
        const bytes = await storage.read(`${session.sessionDir}/${name}`)
        assertValid(kindOf(name), JSON.parse(new TextDecoder().decode(bytes)), name)
      }
    }),
    { numRuns: 100 },
  )
})

test('a file that breaks the format is invalid', () => {
  const session = Session.create('parent', { storage: new MemoryStorage() })
  const { activeContext: context } = session
  const call = ContentPart.toolUse('call_1', 'read', {})
  context.append(
    Message.create('assistant', [ContentPart.text('Hi'), call, ContentPart.image({ type: 'url', url: 'x' })]),
  )
  const dicts = { session: session.rawDict, context: context.rawDict }
  const parts = 'messages.0.content'
  for (const [kind, path, ...values] of [
    ['session', 'uuid', undefined, null, '', '.', '..', 'a.', 'a ', 'a/b', 'a\\b', 'a\0', 'x'.repeat(201)],
    ['session', 'active_context_id', undefined, 5, '../x'],
    ['session', 'auto_approve_tools', undefined, null, 'read', [5]],
    ['session', 'state_data', undefined, [], { a: 5 }],
    ['session', 'is_active', undefined, null, 'true', 1],
    ['context', 'messages', undefined, {}, [5], [null]],
    ['context', 'id', undefined, null, '../x'],
    ['context', 'content_map', undefined, [], { a: 'x' }, { ['0'.repeat(64)]: 5 }],
    ['context', 'anchor_points', undefined, {}, [['a']], [['a', -1]], [['a', 0, 1]], [[0, 'a']]],
    ['context', 'message_sequence', undefined, -1, 1.5, '1', 2 ** 53],
    ['context', '_mutation_counter', undefined, -1, null],
    ['context', 'children', undefined, [null], ['../x']],
    ['context', 'origin_context_id', 5, '../x'],
    ['context', 'system_prompt_message_id', 5],
    ['context', '_anchor_sequences', [-1], 5],
    ['context', 'messages.0.id', undefined, '', 5],
    ['context', 'messages.0.role', undefined, 'narrator', null],
    ['context', 'messages.0._type', undefined, 5],
    ['context', 'messages.0.creation_timestamp', undefined, 5],
    ['context', 'messages.0._hook_ids', undefined, [5]],
    ['context', 'messages.0._sequence_number', -1, '3'],
    ['context', 'messages.0.metadata', 'x', []],
    ['context', 'messages.0.token_count', -1, '3'],
    ['context', parts, 'Hi', [5], [{}], [{ type: 5 }]],
    ['context', `${parts}.0.text`, undefined, 5],
    ['context', `${parts}.1.call_id`, undefined, 5],
    ['context', `${parts}.1.name`, undefined, null],
    ['context', `${parts}.1.arguments`, undefined, {}],
    ['context', `${parts}.2.source`, undefined, 'x', {}, { type: 'url' }, { type: 'base64', data: 'x' }],
    ['context', parts, [{ type: 'tool_result', call_id: 'a' }], [{ type: 'tool_result', content: 'x' }]],
    ['context', parts, [{ type: 'tool' }], [{ type: 'tool', name: 'a', parameters: 'x' }]],
  ]) {
    assertValid(kind, dicts[kind], kind)
    for (const value of values) {
      const broken = replaced(dicts[kind], path.split('.'), value)
      assert.equal(SCHEMAS[kind](broken), false, `${path} = ${JSON.stringify(value)} is valid`)
    }
  }
})

/** A copy with another value at a path; `undefined` removes it. */
function replaced(value, [key, ...rest], put) {
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key] = rest.length === 0 ? put : replaced(value[key], rest, put)
  if (copy[key] === undefined) delete copy[key]
  return copy
}
