import { loadEncoding } from '../../dist/browser.js'
import { createBudget } from './budget.js'
import { byId, element } from './dom.js'
import { formatNumber } from './format.js'
import { createMessageList } from './message-list.js'
import { sumWindow } from './sum-window.js'
import { createWindowBar } from './window-bar.js'

/**
 * The part of the page that shows an open session.
 *
 * @param {{ showStatus(text: string): void, showError(error: unknown): void }} announcer
 */
export function createViewer({ showStatus, showError }) {
  const contextField = byId('context')
  const encodingField = byId('encoding')
  const boundaryField = byId('boundary')
  const toCut = byId('to-cut')
  const list = createMessageList(byId('messages'))
  const bar = createWindowBar()
  const budget = createBudget(scheduleWindow)
  let session = null
  let context = null
  let counts = null
  /** Changes whenever a pending result becomes outdated. */
  let turn = 0
  let isScheduled = false

  toCut.addEventListener('click', () => list.scrollToCut())
  encodingField.addEventListener('change', () => countTokens())
  boundaryField.addEventListener('change', scheduleWindow)
  contextField.addEventListener('change', async () => {
    const id = contextField.value
    try {
      const chosen = await session.loadContext(id)
      // Another one may have been chosen meanwhile.
      if (contextField.value === id) await showContext(chosen)
    } catch (error) {
      contextField.value = context.id
      showError(error)
    }
  })

  async function showContext(next) {
    context = next
    list.show(context)
    byId('message-count').textContent = formatNumber(context.messageCount)
    const ordinary = context.messageCount - specialCount(context)
    budget.setMaximum('messages', ordinary, Math.min(20, ordinary))
    await countTokens({ isNew: true })
  }

  /** Counts in the chosen encoding. For a newly opened context the budget becomes half of its tokens. */
  async function countTokens({ isNew = false } = {}) {
    const mine = ++turn
    const encoding = encodingField.value
    showCounts(null)
    try {
      showStatus(`Loading ${encoding} …`)
      await loadEncoding(encoding)
      if (mine !== turn) return
      showStatus(`Counting ${formatNumber(context.messageCount)} messages …`)
      // Counting blocks the page, so the status must be visible first.
      await nextPaint()
      if (mine !== turn) return
      showCounts(context.tokenCounts(encoding))
      const total = context.totalTokenCount(encoding)
      byId('token-count').textContent = formatNumber(total)
      budget.setMaximum('tokens', total, isNew ? Math.round(total / 2) : undefined)
      showWindow()
      showStatus('')
    } catch (error) {
      if (mine !== turn) return
      showStatus('')
      showError(error)
    }
  }

  function showCounts(next) {
    counts = next
    list.showTokens(counts)
    if (counts === null) byId('token-count').textContent = '…'
    scheduleWindow()
  }

  /** A slider fires more often than the page is painted. */
  function scheduleWindow() {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(() => {
      isScheduled = false
      showWindow()
    })
  }

  function showWindow() {
    if (budget.mode === 'tokens' && counts === null) return
    try {
      const report = plan()
      list.dim(report.messages)
      bar.show(sumWindow(context.messages, counts, report))
      toCut.disabled = report.dropped.length === 0 || report.kept.length === 0
      budget.showFault('')
    } catch (error) {
      budget.showFault(error.message)
    }
  }

  function plan() {
    const options = { boundary: boundaryField.value }
    return budget.mode === 'tokens'
      ? context.planTokenWindow(budget.limit, encodingField.value, options)
      : context.planSequenceWindow(budget.limit, options)
  }

  return {
    /** Shows a session's active context, or the newest if it has none. */
    async show(next) {
      const ids = (await next.listContexts()).reverse()
      const first = next.activeContext ?? (ids.length > 0 ? await next.loadContext(ids[0]) : null)
      if (first === null) throw new Error(`The session ${next.uuid} has no context and therefore no messages.`)
      turn++
      session?.free()
      session = next
      byId('session-id').textContent = session.uuid
      byId('in-use').hidden = !session.isActive
      byId('context-field').hidden = ids.length < 2
      contextField.replaceChildren(...ids.map((id) => contextOption(id, id === session.activeContextId)))
      contextField.value = first.id
      byId('viewer').hidden = false
      await showContext(first)
    },
  }
}

function specialCount({ systemPromptMessage, toolDefinitionsMessage }) {
  return [systemPromptMessage, toolDefinitionsMessage].filter(Boolean).length
}

function contextOption(id, isActive) {
  return element('option', { value: id }, isActive ? `${id} (active)` : id)
}

function nextPaint() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
}
