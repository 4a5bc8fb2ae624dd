/**
 * Sums up a window's report in messages and tokens. Special messages are neither kept nor dropped.
 *
 * @param {readonly { id: string }[]} messages
 * @param {readonly number[] | null} counts The tokens of each message, if they are known.
 * @param {{ kept: readonly string[], dropped: readonly string[] }} report
 */
export function sumWindow(messages, counts, { kept, dropped }) {
  const keptIds = new Set(kept)
  const droppedIds = new Set(dropped)
  const empty = () => ({ messages: 0, tokens: counts === null ? null : 0 })
  const sums = { special: empty(), kept: empty(), dropped: empty() }
  messages.forEach(({ id }, index) => {
    const sum = droppedIds.has(id) ? sums.dropped : keptIds.has(id) ? sums.kept : sums.special
    sum.messages += 1
    if (counts !== null) sum.tokens += counts[index]
  })
  return sums
}
