import { element } from './dom.js'
import { formatCount } from './format.js'

/**
 * A block of text that shows its beginning, and the rest on demand: a page of thousands of messages with long tool
 * results stays light.
 *
 * @param {string} text
 * @param {{ lines: number, characters: number, className: string }} options
 */
export function longText(text, { lines, characters, className }) {
  // The first letter of a text sets its direction, so each text is a block of its own.
  const block = element('div', { className, dir: 'auto' })
  const beginning = beginningOf(text, lines, characters)
  block.textContent = beginning
  if (beginning.length === text.length) return block

  const lineCount = text.split('\n').length
  const size = lineCount > lines ? formatCount(lineCount, 'line') : formatCount(text.length, 'character')
  const button = element('button', { type: 'button', className: 'more' })
  const setOpen = (isOpen) => {
    block.textContent = isOpen ? text : beginning
    block.classList.toggle('cut', !isOpen)
    button.textContent = isOpen ? 'Show less' : `Show all ${size}`
    button.ariaExpanded = String(isOpen)
  }
  setOpen(false)
  button.addEventListener('click', () => setOpen(button.ariaExpanded === 'false'))
  return element('div', { className: 'long-text' }, block, button)
}

function beginningOf(text, lines, characters) {
  let end = -1
  for (let line = 0; line < lines; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) break
  }
  // A few more lines do not justify a button.
  const cut = Math.min(end === -1 ? text.length : end, characters)
  if (text.length - cut < 80) return text
  // Avoids splitting a surrogate pair.
  return text.slice(0, cut).replace(/[\uD800-\uDBFF]$/, '')
}
