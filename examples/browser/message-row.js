import { element } from './dom.js'
import { formatNumber, splitTimestamp } from './format.js'
import { asText } from './json-text.js'
import { renderPart } from './message-parts.js'
import { renderMetadata } from './metadata.js'

/** The title and colour of each role. Agents in Python give results a role of their own. */
const ROLES = new Map([
  ['user', { label: 'User', colour: 'user' }],
  ['assistant', { label: 'Assistant', colour: 'assistant' }],
  ['system', { label: 'System', colour: 'system' }],
  ['tool', { label: 'Tool', colour: 'tool' }],
  ['tool_result', { label: 'Tool result', colour: 'tool' }],
])

/** The text for a dropped message, by the reason in the report. */
const DROPPED = {
  'over-limit': 'dropped',
  exchange: 'dropped with its exchange',
  turn: 'dropped with its turn',
}

/**
 * One message of the list.
 *
 * @param {object} message
 * @param {{ number: number, title: string | null, toolNames: Map<string, string> }} place Its number from 1, its
 *   title if it is a special message, and the names of the tools that its results refer to.
 */
export function createMessageRow(message, { number, title, toolNames }) {
  const role = ROLES.get(message.role) ?? { label: asText(message.role) || 'No role', colour: 'other' }
  const tokens = element('span', { className: 'tokens', title: 'Tokens of this message' })
  const running = element('span', { className: 'running', title: 'Tokens up to this message' })
  const mark = element('span', { className: 'dropped-mark' }, DROPPED['over-limit'])
  const node = element(
    'li',
    { className: 'message' },
    element('span', { className: 'number' }, String(number)),
    element(
      'div',
      { className: 'message-head' },
      element('h3', { className: 'role', dir: 'auto' }, title ?? role.label),
      timeOf(message),
      mark,
      tokens,
      running,
    ),
    element('div', { className: 'parts' }, ...partsOf(message, toolNames)),
  )
  node.dataset.role = role.colour
  node.classList.toggle('special', title !== null)

  let dropped = null
  return {
    node,
    setTokens(count, total) {
      tokens.textContent = count === null ? '' : formatNumber(count)
      running.textContent = total === null ? '' : formatNumber(total)
    },
    /** Touches the page only when something changes: this is called for every row as the slider moves. */
    setDropped(reason) {
      if (reason === dropped) return
      if (reason !== null && mark.textContent !== DROPPED[reason]) mark.textContent = DROPPED[reason]
      if ((reason === null) !== (dropped === null)) node.classList.toggle('dropped', reason !== null)
      dropped = reason
    },
  }
}

function timeOf({ creation_timestamp }) {
  const [day, minute] = splitTimestamp(creation_timestamp)
  return element('time', {}, element('span', { className: 'day' }, day), ' ', minute)
}

function partsOf({ content = [], metadata }, toolNames) {
  const parts = content.map((part) => renderPart(part, toolNames))
  if (parts.length === 0) parts.push(element('p', { className: 'empty' }, 'No content'))
  if (metadata !== undefined && metadata !== null) parts.push(renderMetadata(metadata))
  return parts
}
