// Token windows compared with LangChain's trimMessages, which gets the fastest peer as its counter.
import { ContentPart, Context } from '../dist/index.mjs'
import { interleaved, once, perCall, perRepeatedCall } from './measure.mjs'
import { COUNTERS } from './peers.mjs'

const BUDGET = 4000
const ENCODING = 'o200k_base'
const TEXT = 'The quick brown fox jumps over the lazy dog, and the session remembers it. '.repeat(4)
/** trimMessages counts its messages again for every length that it tries: with more it would take minutes. */
const PEER_SIZES = [100, 1_000]
const PEER = 'trimMessages, hypertok'
const FIRST = 'window, nothing counted yet'
const OUR_SIZES = [100, 1_000, 10_000, 100_000]

export async function windows() {
  const { HumanMessage, AIMessage, trimMessages } = await import('@langchain/core/messages')
  const count = await COUNTERS.hypertok(ENCODING)
  const tokenCounter = (messages) => messages.reduce((sum, { type, content }) => sum + count(`${type}: ${content}`), 0)
  const peer = PEER_SIZES.map((size) => {
    const history = Array.from(
      { length: size },
      (_, index) => new (index % 2 === 0 ? HumanMessage : AIMessage)(`${index} ${TEXT}`),
    )
    const options = { maxTokens: BUDGET, tokenCounter, strategy: 'last' }
    return { row: PEER, column: String(size), run: () => once(() => trimMessages(history, options)) }
  })
  const ours = OUR_SIZES.flatMap((size) => {
    const column = String(size)
    const context = historyOf(size)
    const message = { role: 'user', content: [ContentPart.text(TEXT)] }
    const window = (of) => of.rollingTokenWindow(BUDGET, ENCODING)?.free()
    // Of a fork nothing has been counted yet: the history it is made of never is.
    const onFork = (measure) => () => {
      const fork = context.fork()
      const cost = measure(fork)
      fork.free()
      return cost
    }
    return [
      { row: FIRST, column, run: onFork((fork) => perCall(1, () => window(fork))) },
      {
        row: 'window after one append',
        column,
        run: onFork((fork) => {
          window(fork)
          fork.append(message)
          return perCall(1, () => window(fork))
        }),
      },
      { row: 'window again', column, run: onFork((fork) => perRepeatedCall(10, () => window(fork))) },
    ]
  })
  const whole = OUR_SIZES.flatMap((size) => {
    const context = historyWithCalls(size)
    const row = (row, run) => ({ row, column: String(size), run: () => perCall(1, run) })
    return [
      ...['exchange', 'turn'].map((boundary) =>
        row(`window of whole ${boundary}s`, () => context.rollingTokenWindow(BUDGET, ENCODING, { boundary })?.free()),
      ),
      row('plan of whole turns', () => context.planTokenWindow(BUDGET, ENCODING, { boundary: 'turn' })),
    ]
  })
  return interleaved([...ours, ...whole, ...peer], 9)
}

/** With a row that has our time, nothing counted yet, in multiples of the peer's. */
export function withRatios(results) {
  const of = (row, size) => results.find((result) => result.row === row && result.column === String(size)).median
  const ratios = PEER_SIZES.map((size) => {
    const ratio = of(FIRST, size) / of(PEER, size)
    return { row: 'ratio of the first to the last', column: String(size), median: ratio }
  })
  return [...results, ...ratios]
}

/** Prompts, calls, results and answers in turn. */
function historyWithCalls(size) {
  const context = Context.create()
  for (let index = 0; index < size; index++) {
    const call = `call-${index - (index % 4)}`
    const message = [
      () => ({ role: 'user', content: [ContentPart.text(`${index} ${TEXT}`)] }),
      () => ({
        role: 'assistant',
        content: [ContentPart.text('I look.'), ContentPart.toolUse(call, 'look', { index })],
      }),
      () => ({ role: 'tool_result', content: [ContentPart.toolResult(call, `${index} ${TEXT}`)] }),
      () => ({ role: 'assistant', content: [ContentPart.text(TEXT)] }),
    ][index % 4]
    context.append(message())
  }
  return context
}

function historyOf(size) {
  const context = Context.create()
  for (let index = 0; index < size; index++) {
    context.append({ role: index % 2 === 0 ? 'user' : 'assistant', content: [ContentPart.text(`${index} ${TEXT}`)] })
  }
  return context
}
