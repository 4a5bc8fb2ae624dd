// One conversation under one budget: what a window of each boundary keeps. An overview of all three, and a picture of each
// with the reasons.
import { callsOf, conversation, label } from './conversation.mjs'
import { bracket, bracketX, escaped, picture, ROW, TOP, WIDTH } from './svg.mjs'

const ENCODING = 'o200k_base'
const BUDGET = 330
const PROVIDERS = ['openai-chat', 'openai-responses', 'anthropic', 'gemini']

const TITLES = {
  message: "boundary: 'message'. The window begins wherever the budget ends",
  exchange: "boundary: 'exchange'. A call and its results are kept or dropped together",
  turn: "boundary: 'turn'. The window begins with a prompt; in a long loop that prompt is kept",
}

/** What each reason means, in a few words. */
const WORDS = {
  special: 'special',
  prompt: 'the prompt',
  recent: 'recent',
  'over-limit': 'over budget',
  exchange: 'with its exchange',
  turn: 'with its turn',
}

/** The SVG texts by name. */
export function windowPictures(peteos) {
  const context = conversation(peteos)
  const windows = Object.keys(TITLES).map((boundary) => {
    const options = { boundary }
    const report = context.planTokenWindow(BUDGET, ENCODING, options)
    const window = context.rollingTokenWindow(BUDGET, ENCODING, options)
    const accepting = PROVIDERS.filter((provider) => peteos.check(window, provider).length === 0).length
    return { boundary, report, accepting }
  })
  return {
    'window-boundaries': overview(context, windows),
    ...Object.fromEntries(windows.map((window) => [`window-${window.boundary}`, detail(context, window)])),
  }
}

const TOKENS_X = 560
const COLUMN_X = [580, 670, 760]
const COLUMN_WIDTH = 84

function overview(context, windows) {
  const calls = callsOf(context)
  const { tokens, tokensBefore, messages } = windows[0].report
  const text = (x, y, content, kind = '') =>
    `<text class="middle ${kind}" x="${x + COLUMN_WIDTH / 2}" y="${y}">${content}</text>`
  const bottom = TOP + messages.length * ROW
  return picture({
    title: `${tokensBefore} tokens under a budget of ${BUDGET}: what each boundary keeps`,
    summary: windows
      .map(({ boundary, accepting }) => `${boundary}: accepted by ${accepting} of ${PROVIDERS.length} providers`)
      .join('; '),
    rows: messages.length,
    body: [
      `<text class="quiet number" x="${TOKENS_X}" y="60">tokens</text>`,
      ...windows.map(({ boundary }, column) => text(COLUMN_X[column], 60, `'${boundary}'`)),
      ...context.messages.map((message, index) => {
        const y = TOP + index * ROW
        return [
          `<text x="60" y="${y + 18}"><tspan font-weight="600">${message.role}</tspan>  ${escaped(label(message))}</text>`,
          `<text class="number" x="${TOKENS_X}" y="${y + 18}">${tokens[message.id]}</text>`,
          ...windows.map(({ report }, column) => cell(report, index, calls, COLUMN_X[column], y, text)),
        ].join('\n')
      }),
      ...calls.map(({ call, result }, index) => bracket(call, result, bracketX(calls, index))),
      `<text class="quiet" x="60" y="${bottom + 18}">tokens kept</text>`,
      `<text x="60" y="${bottom + 42}"><tspan font-weight="600">providers that accept it</tspan></text>`,
      ...windows.flatMap(({ report, accepting }, column) => [
        text(COLUMN_X[column], bottom + 18, report.tokensAfter, 'quiet'),
        text(COLUMN_X[column], bottom + 42, `${accepting} of ${PROVIDERS.length}`, accepting === 0 ? 'bad' : ''),
      ]),
    ],
  })
}

function cell(report, index, calls, x, y, text) {
  const isKept = (position) => report.messages[position].kept
  const isBroken = isKept(index) && calls.some(({ call, result }) => result === index && !isKept(call))
  const [fill, word, kind] = isBroken
    ? ['#ffebe9', 'no call', 'bad']
    : isKept(index)
      ? ['#ddf4e4', 'kept', '']
      : ['#eceef1', '–', 'quiet']
  return `<rect x="${x}" y="${y}" width="${COLUMN_WIDTH}" height="${ROW - 4}" rx="4" fill="${fill}"/>${text(x, y + 18, word, kind)}`
}

function detail(context, { boundary, report }) {
  const calls = callsOf(context)
  const { tokensAfter, tokensBefore, limit, dropped, messages } = report
  const summary = `${tokensAfter} of ${tokensBefore} tokens are kept under a budget of ${limit}; ${dropped.length} messages are dropped`
  const isParted = ({ call, result }) => messages[call].kept !== messages[result].kept
  const bottom = TOP + messages.length * ROW
  return picture({
    title: TITLES[boundary],
    summary,
    rows: messages.length,
    body: [
      `<text class="quiet" x="60" y="60">message</text><text class="quiet number" x="640" y="60">tokens</text><text class="quiet" x="664" y="60">why</text>`,
      ...context.messages.map((message, index) => row(message, report, index)),
      ...calls.map((pair, index) => bracket(pair.call, pair.result, bracketX(calls, index), isParted(pair))),
      ...(calls.some(isParted)
        ? [`<text class="bad" x="664" y="${bottom + 38}">results without their call</text>`]
        : []),
      `<text x="20" y="${bottom + 38}">${summary}</text>`,
    ],
  })
}

function row(message, report, index) {
  const { kept, reason } = report.messages[index]
  const y = TOP + index * ROW
  const fill = kept ? (reason === 'recent' ? '#ddf4e4' : '#dbeafe') : '#eceef1'
  return `<g${kept ? '' : ' class="dropped"'}><rect x="52" y="${y}" width="${WIDTH - 72}" height="${ROW - 4}" rx="4" fill="${fill}"/>
<text x="60" y="${y + 18}"><tspan font-weight="600">${message.role}</tspan>  ${escaped(label(message))}</text>
<text class="number" x="640" y="${y + 18}">${report.tokens[message.id]}</text><text x="664" y="${y + 18}">${kept ? 'kept' : 'dropped'}: ${WORDS[reason]}</text></g>`
}
