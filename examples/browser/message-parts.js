// The parts of messages as elements. A file may hold any JSON: no field is trusted to exist or to have its type.
import { element } from './dom.js'
import { asText, isObject, parseExactly } from './json-text.js'
import { longText } from './long-text.js'
import { mediaPart } from './media-part.js'

const PROSE = { lines: 40, characters: 6000, className: 'prose' }
/** A value this short is shown inline. */
const VALUE = { lines: 1, characters: 100, className: 'value' }
const CODE = { lines: 10, characters: 1200, className: 'code' }

const STOPPED = new Set(['denied', 'aborted'])

/**
 * @param {object} part
 * @param {Map<string, string>} toolNames Names of tools by the ids of their calls.
 * @returns {HTMLElement}
 */
export function renderPart(part, toolNames) {
  switch (part.type) {
    case 'text':
      return block(part, longText(asText(part.text), PROSE))
    case 'thinking':
      return block(part, label('Thinking'), longText(asText(part.text), PROSE))
    case 'tool_use':
      return block(
        part,
        callLabel('Call', asText(part.name), part, part.approval_status),
        callArguments(part.arguments),
      )
    case 'tool_result': {
      const name = toolNames.get(part.call_id) ?? ''
      return block(part, callLabel('Result', name, part, part.execution_status), longText(asText(part.content), CODE))
    }
    case 'tool':
      return toolDefinition(part)
    case 'image':
    case 'video':
    case 'audio':
    case 'pdf':
      return block(part, label(part.type === 'pdf' ? 'PDF' : part.type), mediaPart(part))
    default:
      return block(part, label(asText(part.type)), longText(asText(part), CODE))
  }
}

function block({ type }, ...children) {
  const node = element('div', { className: 'part' }, ...children)
  node.dataset.type = asText(type)
  return node
}

function label(kind) {
  return element('p', { className: 'part-label' }, element('span', { className: 'kind' }, kind))
}

function callLabel(kind, name, { call_id }, status) {
  const node = label(kind)
  const details = { 'tool-name': name, 'call-id': asText(call_id), 'call-status': asText(status).replaceAll('_', ' ') }
  for (const [className, text] of Object.entries(details)) {
    if (text !== '') node.append(' ', element('span', { className, dir: 'auto' }, text))
  }
  if (STOPPED.has(status)) node.classList.add('stopped')
  return node
}

/** The arguments one by one, so that multi-line values keep their lines; anything but a JSON object is shown unchanged. */
function callArguments(text) {
  let values
  try {
    values = parseExactly(text)
  } catch {
    return longText(asText(text), CODE)
  }
  if (!isObject(values)) return longText(asText(text), CODE)
  const list = element('dl', { className: 'arguments' })
  for (const [name, value] of Object.entries(values)) {
    list.append(element('dt', { dir: 'auto' }, name), element('dd', {}, argumentValue(value)))
  }
  return list
}

function argumentValue(value) {
  const line = typeof value === 'string' ? value : JSON.stringify(value)
  const isShort = line.length <= VALUE.characters && !line.includes('\n')
  return isShort ? longText(line, VALUE) : longText(asText(value), CODE)
}

function toolDefinition(part) {
  const summary = element('summary', {}, element('span', { className: 'tool-name', dir: 'auto' }, asText(part.name)))
  const details = element('details', {}, summary)
  if (part.description !== undefined) {
    summary.append(' ', element('span', { className: 'description', dir: 'auto' }, asText(part.description)))
  }
  details.append(longText(asText(part.parameters ?? {}), { ...CODE, lines: 60, characters: 6000 }))
  return block(part, details)
}
