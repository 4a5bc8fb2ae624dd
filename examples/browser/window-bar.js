import { byId } from './dom.js'
import { formatNumber } from './format.js'

const SEGMENTS = ['special', 'kept', 'dropped']

/** The bar and the table of what is always sent, kept and dropped. */
export function createWindowBar() {
  const bar = byId('bar')
  const legend = document.querySelector('.legend')

  return {
    /**
     * @param {Record<'special' | 'kept' | 'dropped', { messages: number, tokens: number | null }>} sums The tokens are
     *   null where they are not known.
     */
    show(sums) {
      for (const segment of SEGMENTS) {
        const { messages, tokens } = sums[segment]
        const size = tokens ?? messages
        const part = bar.querySelector(`[data-segment=${segment}]`)
        part.style.flexGrow = size
        part.hidden = size === 0
        const [messageCell, tokenCell] = legend.querySelectorAll(`[data-segment=${segment}] td`)
        messageCell.textContent = formatNumber(messages)
        tokenCell.textContent = tokens === null ? '' : formatNumber(tokens)
      }
    },
  }
}
