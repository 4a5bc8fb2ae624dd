import { createMessageRow } from './message-row.js'

/**
 * The list of a context's messages.
 *
 * @param {HTMLElement} list
 */
export function createMessageList(list) {
  /** @type {ReturnType<typeof createMessageRow>[]} */
  let rows = []

  return {
    show(context) {
      const titles = titlesOf(context)
      const toolNames = toolNamesOf(context.messages)
      rows = context.messages.map((message, index) =>
        createMessageRow(message, { number: index + 1, title: titles.get(message.id) ?? null, toolNames }),
      )
      list.replaceChildren(...rows.map(({ node }) => node))
    },

    /** The tokens of each message; `null` while they are unknown. */
    showTokens(counts) {
      let total = 0
      rows.forEach((row, index) => {
        if (counts === null) return row.setTokens(null, null)
        total += counts[index]
        row.setTokens(counts[index], total)
      })
    },

    /** Dims exactly the messages that a report drops. */
    dim(reports) {
      rows.forEach((row, index) => row.setDropped(reports[index].kept ? null : reports[index].reason))
    },

    /** Scrolls to the first message after the dropped ones. */
    scrollToCut() {
      const first = list.querySelector('.dropped + .message:not(.dropped)')
      // Rows have an estimated height until they are shown, so the first jump may miss.
      first?.scrollIntoView()
      requestAnimationFrame(() => first?.scrollIntoView())
    },
  }
}

function titlesOf({ systemPromptMessage, toolDefinitionsMessage }) {
  const titles = new Map()
  if (systemPromptMessage) titles.set(systemPromptMessage.id, 'System prompt')
  if (toolDefinitionsMessage) titles.set(toolDefinitionsMessage.id, 'Tool definitions')
  return titles
}

/** A result has only the id of its call; the call has the name of the tool. */
function toolNamesOf(messages) {
  const names = new Map()
  for (const { content = [] } of messages) {
    for (const part of content) if (part.type === 'tool_use') names.set(part.call_id, String(part.name))
  }
  return names
}
