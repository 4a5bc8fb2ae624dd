// Generated programs: what is done with a session. A program is plain data:
//
//   start    'create', or 'file': what `prelude` builds is written to files first, which both sides load
//   system, tools   JSON text of the special messages, or null
//   prelude  steps `append` and `addAnchor`, done before the others
//   steps    see the methods of support/ours.mjs; `on` is the number of a context, counted from 0 round and round
//
// Messages are JSON text. In files numbers stand as they are written there; what is appended is text as JavaScript
// writes it, because a message can be handed in as an object only.
import { chance, fc, list, sometimes } from '../package/support/property.mjs'
import { keys, objects, objectText, strings, texts, values } from './support/json-values.mjs'
import { ENCODINGS } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const UUID = '20010203-00000000-0000-4000-8000-000000000000'
const CONTEXT_ID = '20010203-00000000-0000-4000-8000-000000000001'

const ANCHORS = ['notes', 'pinned', 'résumé', 'a', '', '__proto__', 'results of call-1', 'messages ']
const HOOKS = ['mood', 'time', 'tool_list', 'tool_filter', 'a:b']
const STATE_NAMES = ['step', '2', '1', '__proto__', '', 'ключ']

/** Stands for a number that nothing else in the program has. No JSON text holds the character itself. */
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
const weighted = (...choices) => fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
/** A field as JSON text with this probability, or nothing. */
const field = (probability, name, value) => sometimes(probability, value.map((text) => `"${name}":${text}`))
const object = (...fields) => fc.tuple(...fields).map((made) => objectText(made.flat()))
const constant = (text) => fc.constant(text)
const whole = (min, max) => fc.integer({ min, max })

// Messages

const id = (inFile, prefix) => field(inFile ? 1 : 0.85, 'id', constant(`"${prefix}${NUMBER}"`))

/** The role and type of a special message, where it has them; the role of a subclass is known to its class only. */
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
  field(1, 'call_id', whole(1, 8).map((number) => `"call-${number}"`)),
  field(1, 'content', strings),
  field(1, 'execution_status', constant('"executed"')),
)
const unknownParts = typed('hologram', field(1, 'data', values(3)))

const PARTS_OF = { assistant: callParts, tool: resultParts, user: textParts, system: textParts }
const partsOf = (role, thinks) =>
  weighted(
    [thinks ? 3 : 0, thinkingParts],
    [3, textParts],
    [1, mediaParts],
    [2, PARTS_OF[role]],
    [0.4, unknownParts],
  )
