import { byId, element } from './dom.js'
import { formatCount, formatDate } from './format.js'

/**
 * Asks which of several sessions to open.
 *
 * @template {{ directory: string, files: unknown[], modified: number | null }} Found
 * @param {Found[]} sessions
 * @returns {Promise<Found | null>} null if the user cancels.
 */
export function chooseSession(sessions) {
  if (sessions.length === 1) return Promise.resolve(sessions[0])
  const dialog = byId('chooser')
  return new Promise((resolve) => {
    let chosen = null
    const items = sessions.map((session) => {
      const button = sessionButton(session)
      button.addEventListener('click', () => {
        chosen = session
        dialog.close()
      })
      return element('li', {}, button)
    })
    byId('chooser-title').textContent = `${formatCount(sessions.length, 'session')}: which one?`
    byId('chooser-list').replaceChildren(...items)
    dialog.addEventListener('close', () => resolve(chosen), { once: true })
    dialog.showModal()
  })
}

function sessionButton({ directory, files, modified }) {
  const end = directory.lastIndexOf('/')
  const details = [formatCount(files.length - 1, 'context'), modified && `saved ${formatDate(modified)}`]
  return element(
    'button',
    { type: 'button' },
    element('span', { className: 'session-parent', dir: 'auto' }, directory.slice(0, end + 1)),
    element('strong', { dir: 'auto' }, directory.slice(end + 1) || '(the files picked)'),
    element('span', { className: 'session-details' }, details.filter(Boolean).join(' · ')),
  )
}
