// The loop: append, window, check, send, append the answer, call the tools, save.
import {
  ContentPart,
  check,
  Message,
  Session,
  SystemPromptMessage,
  ToolDefinitionsMessage,
  toMessages,
} from 'peteos-session'
import { clients } from './clients.mjs'
import { callTool, tools } from './tools.mjs'

const ENCODING = 'o200k_base'

/** Runs the agent for a number of turns. Resolves to a summary of the run. */
export async function runAgent({ provider, boundary, turns, budget, server, storage, directory }) {
  const session = Session.create(directory, {
    systemPromptMessage: SystemPromptMessage.create('You look after a small archive. Use the tools, and be brief.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create(tools),
    storage,
  })
  const row = { provider, boundary, turns: 0, requests: 0, refusals: 0, windows: 0, 'most tokens': 0, error: '' }
  const options = { boundary, hysteresis: { to: Math.floor(budget * 0.6) } }
  for (let turn = 1; turn <= turns; turn++) {
    // Every tenth task is a long one, which does not fit the budget.
    const rounds = turn % 10 === 0 ? 12 : turn % 4
    session.append(Message.create('user', [ContentPart.text(`Task ${turn}: look in ${rounds} rounds.`)]))
    for (let calls; calls === undefined || calls.length > 0; ) {
      if (session.rollingTokenWindow(budget, ENCODING, options) !== null) row.windows++
      row['most tokens'] = Math.max(row['most tokens'], session.activeContext.totalTokenCount(ENCODING))
      const reply = await ask(session.activeContext)
      row.requests++
      if (reply.error !== undefined) return { ...row, refusals: 1, error: reply.error }
      for (const message of reply.messages) session.append(message)
      calls = reply.messages.flatMap(({ content = [] }) => content.filter(({ type }) => type === 'tool_use'))
      for (const { call_id, name, arguments: args } of calls) {
        const result = ContentPart.toolResult(call_id, callTool(name, JSON.parse(args)))
        session.append(Message.create('tool_result', [result]))
      }
    }
    row.turns = turn
    if (turn % 20 === 0) await session.save()
  }
  await session.save()
  const again = await Session.load(directory, session.uuid, { storage })
  if (again.activeContext.messageCount !== session.activeContext.messageCount)
    throw new Error('the saved session differs')
  return row

  async function ask(context) {
    // A window of exchanges may begin with the assistant, which two of the providers reject: a repair inserts a marked user
    // message before it. No other repair may be necessary.
    const findings = boundary === 'message' ? [] : check(context, provider)
    const other = findings.find(({ rule }) => boundary !== 'exchange' || rule !== 'wrong-first-role')
    if (other !== undefined) return { error: `${other.path}: ${other.message}` }
    try {
      return await clients[provider](server, toMessages(context, provider, { repair: findings.length > 0 }))
    } catch (error) {
      // A result without its call cannot even be converted for Gemini, which requires the name of the tool.
      if (error.code === 'ERR_INVALID_ARGUMENT') return { error: error.message }
      throw error
    }
  }
}
