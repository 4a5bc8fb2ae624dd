// One picture for each boundary: the same conversation and budget, what stays, what goes, and why.

const ENCODING = 'o200k_base'
const BUDGET = 330
const ROW = 30
const WIDTH = 860
const TOP = 76

/** What each reason means, in a few words. */
const WORDS = {
  special: 'special',
  prompt: 'the prompt',
  recent: 'recent',
  'over-limit': 'over the budget',
  exchange: 'exchange over it',
  turn: 'turn over it',
}

/** The SVG texts by name. */
export function windowPictures(peteos) {
  const context = conversation(peteos)
  const titles = {
    message: "boundary: 'message'. The window begins wherever the budget ends",
    exchange: "boundary: 'exchange'. A call and its results stay or go together",
    turn: "boundary: 'turn'. The window begins with a prompt; in a long loop that prompt stays",
  }
  return Object.fromEntries(
    Object.entries(titles).map(([boundary, title]) => {
      const report = context.planTokenWindow(BUDGET, ENCODING, { boundary })
      return [`window-${boundary}`, draw(context, report, title)]
    }),
  )
}

function conversation({ ContentPart, Context, Message, SystemPromptMessage }) {
  const system = SystemPromptMessage.create(
    'You mend programs. Run the tests before and after, and change as little as you can.',
  )
  const context = Context.create({ systemPromptMessage: system })
  const say = (role, ...parts) => context.append(Message.create(role, parts))
  const { text, thinking, toolResult, toolUse } = ContentPart
  say('user', text('Which tests fail?'))
  say('assistant', toolUse('call_1', 'run_tests', { only: 'all' }))
  say('tool_result', toolResult('call_1', '2 of 118 tests failed: parser, writer'))
  say('assistant', text('Two: one of the parser and one of the writer.'))
  say('user', text('Mend them both, please.'))
  say(
    'assistant',
    thinking('I read both files first.'),
    toolUse('call_2', 'read', { path: 'parser.js' }),
    toolUse('call_3', 'read', { path: 'writer.js' }),
  )
  say('tool_result', toolResult('call_2', 'export function parse(text) { return text.split(",") }'))
  say('tool_result', toolResult('call_3', 'export const write = (items) => items.join(", ")'))
  say(
    'assistant',
    text('They disagree about the space.'),
    toolUse('call_4', 'edit', { path: 'writer.js', put: 'items.join(",")' }),
  )
  say('tool_result', toolResult('call_4', '1 line changed'))
  say('assistant', toolUse('call_5', 'run_tests', { only: 'all' }))
  say('tool_result', toolResult('call_5', '118 tests passed'))
  return context
}

function draw(context, report, title) {
  const height = TOP + report.messages.length * ROW + 58
  const rows = context.messages.map((message, index) => row(message, report, index))
  const { tokensAfter, tokensBefore, limit, dropped } = report
  const summary = `${tokensAfter} of ${tokensBefore} tokens stay, the budget is ${limit}; ${dropped.length} messages go`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}: ${summary}">
<style>
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 16px }
.quiet { fill: #59636e }
.number { text-anchor: end; font-variant-numeric: tabular-nums }
.gone { opacity: 0.7 }
</style>
<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text class="title" x="20" y="32">${escaped(title)}</text>
<text class="quiet" x="60" y="60">message</text><text class="quiet number" x="640" y="60">tokens</text><text class="quiet" x="664" y="60">why</text>
${rows.join('\n')}
${links(context, report)}
<text x="20" y="${height - 20}">${summary}</text>
</svg>
`
}

function row(message, report, index) {
  const { kept, reason } = report.messages[index]
  const y = TOP + index * ROW
  const tokens = report.tokens[message.id]
  const fill = kept ? (reason === 'recent' ? '#ddf4e4' : '#dbeafe') : '#eceef1'
  return `<g${kept ? '' : ' class="gone"'}><rect x="52" y="${y}" width="${WIDTH - 72}" height="${ROW - 4}" rx="4" fill="${fill}"/>
<text x="60" y="${y + 18}"><tspan font-weight="600">${message.role}</tspan>  ${escaped(label(message))}</text>
<text class="number" x="640" y="${y + 18}">${tokens}</text><text x="664" y="${y + 18}">${kept ? 'stays' : 'goes'}: ${WORDS[reason]}</text></g>`
}

/** A bracket from each call to its last result, red where the window parts them. */
function links(context, report) {
  const calls = new Map()
  context.messages.forEach((message, index) => {
    for (const part of message.content ?? []) {
      if (part.type === 'tool_use') calls.set(part.call_id, { call: index, result: index })
      if (part.type === 'tool_result') calls.get(part.call_id).result = index
    }
  })
  const middle = (index) => TOP + index * ROW + (ROW - 4) / 2
  const drawn = [...calls.values()].map(({ call, result }, number) => {
    const isParted = report.messages[call].kept !== report.messages[result].kept
    // The third call is made in the same message as the second: its bracket stands further out.
    const x = number === 2 ? 26 : 38
    const [colour, stroke] = isParted ? ['#cf222e', 3] : ['#59636e', 1.5]
    const path = `M50 ${middle(call)} H${x} V${middle(result)} H50`
    return { isParted, line: `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${stroke}"/>` }
  })
  const note = `<text x="664" y="${TOP + report.messages.length * ROW + 38}" style="fill: #cf222e">results without their call</text>`
  return [...drawn.map(({ line }) => line), ...(drawn.some(({ isParted }) => isParted) ? [note] : [])].join('\n')
}

function label(message) {
  return message.content.map(describe).join(' · ')
}

function describe(part) {
  if (part.type === 'tool_use') return `calls ${part.name}(${Object.values(JSON.parse(part.arguments))[0]})`
  if (part.type === 'tool_result') return short(`result: ${part.content}`)
  return part.type === 'thinking' ? 'thinks' : short(part.text)
}

function short(text) {
  return text.length > 46 ? `${text.slice(0, 45)}…` : text
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
