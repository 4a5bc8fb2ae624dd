// Applies windows to a session, and keeps account of what each kept and dropped.

/**
 * The last `count` messages, then of these as many as fit `maxTokens`. Returns an outcome for each:
 * { name, title, plan, before, after } and for the second `budget`; `before` and `after` are the contexts with their
 * tokens counted, the same one where nothing was dropped.
 */
export function applyWindows(session, { count, maxTokens, encoding }) {
  const windows = [
    {
      name: 'count',
      title: `Sequence window: the last ${number(count)} messages`,
      plan: (context) => context.planSequenceWindow(count),
      apply: () => session.rollingSequenceWindow(count),
    },
    {
      name: 'tokens',
      title: `Token window: at most ${number(maxTokens)} tokens of ${encoding}`,
      budget: maxTokens,
      plan: (context) => context.planTokenWindow(maxTokens, encoding),
      apply: () => session.rollingTokenWindow(maxTokens, encoding),
    },
  ]
  return windows.map(({ name, title, budget, plan, apply }) => {
    const context = session.activeContext
    const before = account(context, encoding)
    const planned = plan(context)
    const after = account(apply() ?? context, encoding)
    return { name, title, budget, plan: planned, before, after }
  })
}

/** A context with its messages as they are now, and their tokens. */
export function account(context, encoding) {
  return {
    context,
    messages: context.messages,
    tokens: context.tokenCounts(encoding),
    total: context.totalTokenCount(encoding),
  }
}

/** What a window did, line by line. `describe` says in one line which message an id is of. */
export function describeOutcome({ name, title, budget, plan, before, after }, describe) {
  const { kept, dropped } = plan
  const special = after.messages.length - kept.length
  const lines = [
    title,
    `  kept        ${number(kept.length)} of ${number(kept.length + dropped.length)}, and ${number(special)} special`,
    `  dropped     ${number(dropped.length)}${dropped.length > 0 ? `, marked '${name}' above` : ''}`,
    `  tokens      ${number(before.total)} before, ${number(after.total)} after`,
  ]
  if (budget !== undefined) lines.push(`  budget      ${number(budget)}, ${describeRest(budget - after.total)}`)
  if (kept.length > 0) {
    lines.push(`  first kept  ${describe(kept[0])}`, `  last kept   ${describe(kept.at(-1))}`)
  }
  return lines
}

function describeRest(rest) {
  if (rest >= 0) return `${number(rest)} left`
  return `${number(-rest)} over: the special messages alone are more`
}

export function number(value) {
  return value.toLocaleString('en-US')
}
