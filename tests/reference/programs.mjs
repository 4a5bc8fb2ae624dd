// Generated programs: operations on a session. A program is plain data:
//
//   start    'create', or 'file': the result of `prelude` is written to files first, which both sides load
//   system, tools   JSON text of the special messages, or null
//   prelude  steps `append` and `addAnchor`, done before the others
//   steps    see the methods of support/ours.mjs; `on` is the number of a context, counted from 0 round and round
//
// Messages are JSON text. In files numbers stand as they are written there; what is appended is text as JavaScript
// writes it, because a message can only be passed as an object.
import { chance, fc, list, nth, sometimes } from '../package/support/property.mjs'
import { keys, objects, objectText, strings, texts, values } from './support/json-values.mjs'
import { ENCODINGS } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const UUID = '20010203-00000000-0000-4000-8000-000000000000'
const CONTEXT_ID = '20010203-00000000-0000-4000-8000-000000000001'

const ANCHORS = ['notes', 'pinned', 'résumé', 'a', '', '__proto__', 'results of call-1', 'messages ']
const HOOKS = ['mood', 'time', 'tool_list', 'tool_filter', 'a:b']
const STATE_NAMES = ['step', '2', '1', '__proto__', '', 'ключ']

/** Stands for a number that is unique in the program. No JSON text holds the character itself. */
const NUMBER = '\u0001'

function numbered(program) {
  let count = 0
  const walk = (value) => {
    if (typeof value === 'string') return value.replaceAll(NUMBER, () => String(++count))
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, walk(field)]))
  }
  return walk(program)
}

const pick = (...items) => fc.constantFrom(...items)
const weighted = (...choices) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight: Math.round(100 * weight), arbitrary })))
/** A field as JSON text with this probability, else nothing. */
const field = (probability, name, value) =>
  sometimes(
    probability,
    value.map((text) => `"${name}":${text}`),
  )
const object = (...fields) => fc.tuple(...fields).map((made) => objectText(made.flat()))
const constant = (text) => fc.constant(text)
const whole = (min, max) => fc.integer({ min, max })

// Messages

const id = (inFile, prefix) => field(inFile ? 1 : 0.85, 'id', constant(`"${prefix}${NUMBER}"`))

/** The role and type of a special message, if it has them; only its class knows the role of a subclass. */
const kindOf = (inFile, role, type, subclass) =>
  chance(0.2).chain((isSubclass) =>
    fc.tuple(
      field(inFile ? (isSubclass ? 1 : 0.9) : 0.3, 'role', constant(`"${role}"`)),
      field(inFile ? 1 : 0.3, '_type', constant(`"${isSubclass ? subclass : type}"`)),
    ),
  )

const systemMessages = (inFile, prefix) =>
  strings.chain((text) =>
    object(
      id(inFile, prefix),
      field(0.5, '_static_text', constant(text)),
      kindOf(inFile, 'system', 'SystemPromptMessage', 'Persona'),
      field(0.9, 'content', constant(`[{"type":"text","text":${text}}]`)),
    ),
  )

const definitions = (isTyped) =>
  fc
    .tuple(pick('read', 'write', 'get_weather', 'internal_reset', 'a', 'Read'), strings, values(2))
    .map(
      ([name, description, value]) =>
        `{${isTyped ? '"type":"tool",' : ''}"name":"${name}","description":${description},"parameters":{"type":"object","properties":{"x":${value}}}}`,
    )

const listText = (least, most, item) => list(least, most, item).map((items) => `[${items}]`)

const toolMessages = (inFile, prefix) =>
  object(
    id(inFile, prefix),
    field(1, 'content', listText(0, 4, definitions(true))),
    kindOf(inFile, 'tool', 'ToolDefinitionsMessage', 'Toolbox'),
  )

const part = (...fields) => object(...fields, field(0.05, 'extra', values(2)))
const typed = (type, ...fields) => part(field(1, 'type', constant(`"${type}"`)), ...fields)

const textParts = typed('text', field(1, 'text', strings))
const thinkingParts = typed('thinking', field(1, 'text', strings))
const base64 = list(1, 20, pick('iVBO', 'Rw0K', 'GgoA', 'AAAN', '/+9=', 'SUhE')).map((pieces) => pieces.join(''))
const sources = fc.oneof(
  base64.map((data) => `{"type":"base64","data":"${data}","media_type":"image/png"}`),
  whole(0, 99).map((number) => `{"type":"url","url":"https://example.org/${number}.png"}`),
)
const mediaParts = pick('image', 'image', 'video', 'audio', 'pdf').chain((type) =>
  typed(type, field(1, 'source', sources)),
)
const callArguments = weighted([9, values(3)], [1, texts]).map((text) => JSON.stringify(text))
const callParts = typed(
  'tool_use',
  field(1, 'call_id', constant(`"call-${NUMBER}"`)),
  field(1, 'name', constant('"read"')),
  field(1, 'arguments', callArguments),
  field(1, 'approval_status', constant('"pending"')),
)
const resultParts = typed(
  'tool_result',
  field(
    1,
    'call_id',
    whole(1, 8).map((number) => `"call-${number}"`),
  ),
  field(1, 'content', strings),
  field(1, 'execution_status', constant('"executed"')),
)
const unknownParts = typed('hologram', field(1, 'data', values(3)))

const PARTS_OF = { assistant: callParts, tool: resultParts, user: textParts, system: textParts }
const partsOf = (role, thinks) =>
  weighted([thinks ? 3 : 0, thinkingParts], [3, textParts], [1, mediaParts], [2, PARTS_OF[role]], [0.4, unknownParts])

const messageOf = (inFile, role, thinks) =>
  object(
    field(1, 'role', constant(`"${role}"`)),
    field(0.96, 'content', contentOf(role, thinks)),
    id(inFile, 'm'),
    field(inFile ? 1 : 0.7, 'creation_timestamp', constant('"2001-02-03T04:05:06.000007"')),
    field(0.3, 'metadata', objects(5, values(2))),
    sometimes(
      0.1,
      fc
        .tuple(pick('mood', '1', 'extra', '__proto__'), values(2))
        .map(([key, text]) => `${JSON.stringify(key)}:${text}`),
    ),
    field(0.08, '_type', constant('"Note"')),
    field(thinks ? 0 : 0.05, 'token_count', whole(0, 50).map(String)),
  )

const contentOf = (role, thinks) =>
  fc
    .tuple(
      sometimes(thinks ? 0.6 : 0, thinkingParts),
      weighted([0.08, fc.constant([])], [0.92, list(1, 3, partsOf(role, thinks))]),
    )
    .map(([first, rest]) => `[${first === undefined ? rest : [first, ...rest]}]`)

const anyMessage = (inFile) =>
  weighted(
    [2, messageOf(inFile, 'user', false)],
    [2, messageOf(inFile, 'assistant', false)],
    [1, messageOf(inFile, 'assistant', true)],
    [1, messageOf(inFile, 'tool', false)],
    [1, messageOf(inFile, 'system', false)],
  )

// Steps

const on = weighted([6, fc.constant(0)], [4, whole(0, 5)])
const encoding = pick(...ENCODINGS)
const share = fc.integer({ min: 0, max: 1000 }).map((share) => share / 1000)
const does = (name, args = {}) => fc.record({ do: fc.constant(name), ...args })

/** Appends at `messages`, at one of the current anchors (by a number), or at an unknown one. */
const append = (inFile) =>
  does('append', {
    message: anyMessage(inFile),
    anchor: weighted([60, fc.constant('messages')], [38, fc.nat()], [2, pick(...ANCHORS, 'nowhere')]),
  })

const addAnchor = fc
  .tuple(
    does('addAnchor', { name: weighted([95, pick(...ANCHORS)], [5, pick('messages', 'tools')]), after: fc.boolean() }),
    weighted(
      [4, fc.constant({ index: 99 })],
      [20, pick({ place: 0 }, { place: 1 })],
      [76, share.map((place) => ({ place }))],
    ),
  )
  .map(([step, place]) => ({ ...step, ...place }))

const bound = sometimes(0.6, whole(-25, 30))
const replacement = (messages) => sometimes(0.25, weighted([15, fc.constant('same')], [85, messages]))
const fork = does('fork', {
  on,
  start: bound,
  end: bound,
  system: replacement(systemMessages(false, 'm')),
  tools: replacement(toolMessages(false, 'm')),
})

/** A window of a share of the messages, or of a fixed size. */
const window = (name, key, sizes, args) =>
  fc
    .tuple(
      does(name, args),
      weighted([7, share.map((part) => ({ share: part }))], [3, sizes.map((size) => ({ [key]: size }))]),
    )
    .map(([step, size]) => ({ ...step, ...size }))
const counts = whole(1, 20)
const budgets = pick(0, 1, 10, 50, 200, 1000, 100000)

const changes = object(
  field(
    0.6,
    'content',
    partsOf('user', false).map((part) => `[${part}]`),
  ),
  field(1, 'metadata', objects(5, values(2))),
  field(0.3, 'later', values(1)),
)

const patterns = pick('read', 'get_.*', 'internal_\\w+', 'a|b', '(read|write)', 're', '[Rr]ead', '')
const hookText = {
  tool_list: listText(0, 4, definitions(false)),
  tool_filter: list(0, 2, patterns).map((chosen) => JSON.stringify(chosen)),
}
const hooks = pick(...HOOKS).chain((name) =>
  does('hook', { message: whole(0, 1), name: fc.constant(name), text: hookText[name] ?? texts }),
)

const stateName = pick(...STATE_NAMES)
const stateValue = pick('one', 'two', '')
const state = (call, ...args) => does('state', { call: fc.constant(call), args: fc.tuple(...args) })

const steps = weighted(
  [32, fc.tuple(append(false), on).map(([step, context]) => ({ ...step, on: context }))],
  [10, fc.tuple(addAnchor, on).map(([step, context]) => ({ ...step, on: context }))],
  [10, fork],
  [4, does('stripThinking', { on })],
  [4, window('sequenceWindow', 'count', counts, { on })],
  [4, window('tokenWindow', 'budget', budgets, { on, encoding })],
  [5, window('sessionSequenceWindow', 'count', counts)],
  [5, window('sessionTokenWindow', 'budget', budgets, { encoding })],
  [4, does('activate', { on })],
  [3, does('save')],
  [3, does('reload')],
  [2, does('count', { on, encodings: fc.tuple(encoding, encoding) })],
  [3, does('update', { on, message: whole(0, 9), changes })],
  [3, hooks],
  [2, does('materialize')],
  [1, state('create', stateName, stateValue)],
  [0.5, state('get', stateName)],
  [0.5, state('update', stateName, stateValue, stateValue)],
  [0.5, state('delete', stateName)],
  [0.5, state('list')],
  [1, does('setActive', { value: fc.boolean() })],
  [2, does('setAutoApprove', { tools: list(0, 2, pick('read', 'write', 'é')) })],
)

/** The end of every program: all counts of one context. */
const ends = fc
  .tuple(on, weighted([2, fc.constant(ENCODINGS)], [8, fc.tuple(encoding, encoding)]))
  .map(([context, spread]) => [
    { do: 'count', on: context, encodings: ENCODINGS },
    { do: 'specials', on: context },
    { do: 'sweep', on: context, spread },
  ])

// Programs

/** Resolves anchors that appends name by a number to anchors that were added before. */
function withAnchors(program) {
  const names = ['system_prompt', 'tools']
  const named = (step) => {
    if (step.do === 'addAnchor') names.push(step.name)
    return typeof step.anchor === 'number' ? { ...step, anchor: nth(names, step.anchor) } : step
  }
  return { ...program, prelude: program.prelude.map(named), steps: program.steps.map(named) }
}

const unknownField = sometimes(
  0.4,
  fc.tuple(keys, values(3)).map(([key, text]) => `${JSON.stringify(`x${key}`)}:${text}`),
).map((text) => text ?? null)

const extras = fc.record({
  session: fc.record({
    unknown: unknownField,
    state: fc.uniqueArray(fc.tuple(stateName, texts), { maxLength: 3, selector: ([name]) => name }),
  }),
  context: fc.record({ unknown: unknownField, anchorSequences: fc.boolean(), bare: chance(0.2) }),
})

const orNull = (probability, arbitrary) => sometimes(probability, arbitrary).map((made) => made ?? null)

const programsOf = (inFile) => {
  const prelude = weighted([8, append(inFile)], [2, addAnchor])
  return fc.record({
    start: fc.constant(inFile ? 'file' : 'create'),
    system: orNull(0.7, systemMessages(inFile, 'm')),
    tools: orNull(0.55, toolMessages(inFile, 'm')),
    extras: inFile ? extras : fc.constant(null),
    prelude: weighted([9, list(0, 10, prelude)], [1, list(0, 30, prelude)]),
    steps: fc.tuple(list(0, 20, steps), ends).map((parts) => parts.flat()),
  })
}

/** Programs, of new sessions and of files. */
export const programs = weighted([65, programsOf(false)], [35, programsOf(true)])
  .map(withAnchors)
  .map(numbered)

/** Messages and special messages that are not passed yet; `handedIn` converts them to JSON texts. */
export const messages = anyMessage(false)
export const specials = fc.record({
  system: orNull(0.7, systemMessages(false, 's')),
  tools: orNull(0.6, toolMessages(false, 's')),
})

/** The steps and special messages in `value` with unique ids, and with numbers as JavaScript writes them. */
export function handedIn(value) {
  const walk = (item) => {
    if (Array.isArray(item)) return item.map(walk)
    if (typeof item !== 'object' || item === null) return item
    return withJavaScriptNumbers(Object.fromEntries(Object.entries(item).map(([key, field]) => [key, walk(field)])))
  }
  return walk(numbered(value))
}

/** The input of both sides: the initial state and all steps. */
export function startOf({ start, system, tools, extras, prelude, steps }) {
  if (start === 'create')
    return { start: withJavaScriptNumbers({ system, tools }), steps: [...prelude, ...steps].map(withJavaScriptNumbers) }
  const files = {
    'session.json': sessionFile(UUID, CONTEXT_ID, extras?.session),
    [`${CONTEXT_ID}.json`]: contextFile(CONTEXT_ID, { system, tools, prelude, ...extras?.context }),
  }
  return { start: { uuid: UUID, files }, steps: steps.map(withJavaScriptNumbers) }
}

const asJavaScriptWrites = (json) => JSON.stringify(JSON.parse(json))

function withJavaScriptNumbers(step) {
  const changed = { ...step }
  for (const key of ['message', 'changes', 'system', 'tools']) {
    if (typeof step[key] === 'string' && step[key] !== 'same') changed[key] = asJavaScriptWrites(step[key])
  }
  return changed
}
