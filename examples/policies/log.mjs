// The log of a coding agent, made by the same rules each time: tasks, calls that read, search, test and edit, and results of
// very different lengths.

const WORDS =
  'parser writer token window session message budget cache prefix error stack frame index value buffer result return const'.split(
    ' ',
  )
const TOOLS = {
  read: { path: (pick) => `src/${pick(WORDS)}.rs`, lengths: [200, 1_400] },
  search: { path: (pick) => pick(WORDS), lengths: [40, 500] },
  run_tests: { path: (pick) => pick(WORDS), lengths: [60, 900] },
  edit: { path: (pick) => `src/${pick(WORDS)}.rs`, lengths: [5, 30] },
}

/** Pseudo-random numbers from 0 to 1, the same in each run. */
function numbers(seed) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** A context with this number of tasks, about 16 messages each. */
export function agentLog({ ContentPart, Context, Message, SystemPromptMessage }, tasks = 60) {
  const next = numbers(20_261_201)
  const pick = (items) => items[Math.floor(next() * items.length)]
  const between = (low, high) => Math.floor(low + next() * (high - low))
  const words = (count) => Array.from({ length: count }, () => pick(WORDS)).join(' ')
  const system = SystemPromptMessage.create(`You are a careful programmer. ${words(300)}`)
  const context = Context.create({ systemPromptMessage: system })
  for (let task = 1; task <= tasks; task++) {
    context.append(Message.create('user', `Task ${task}: ${words(between(10, 60))}`))
    const rounds = between(4, 11)
    for (let round = 1; round <= rounds; round++) {
      const name = pick(Object.keys(TOOLS))
      const { path, lengths } = TOOLS[name]
      const id = `call-${task}-${round}`
      const call = ContentPart.toolUse(id, name, { path: path(pick) })
      context.append(Message.create('assistant', [ContentPart.text(words(between(5, 40))), call]))
      context.append(Message.create('tool_result', [ContentPart.toolResult(id, words(between(...lengths)))]))
    }
    context.append(Message.create('assistant', words(between(20, 120))))
  }
  return context
}
