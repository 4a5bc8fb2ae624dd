// How the cost of each operation grows with the number of messages.
import { ContentPart, MemoryStorage, Message, Session } from '../dist/index.mjs'
import { once, perCall, perRepeatedCall } from './measure.mjs'

const SIZES = [10, 100, 1_000, 10_000]
const APPENDS = 100
const TEXT = 'The quick brown fox jumps over the lazy dog, and the session remembers it. '.repeat(4)

export function growth() {
  return SIZES.flatMap((size) => {
    const column = String(size)
    const session = sessionOf(size)
    const context = session.activeContext
    const message = Message.create('user', [ContentPart.text(TEXT)])
    // Each case leaves the context at this size: appends go to a fork, which is then discarded.
    const onFork = (measure) => () => {
      const fork = context.fork()
      fork.messages
      const cost = measure(fork)
      fork.free()
      return cost
    }
    return [
      { row: 'append a message', column, run: onFork((fork) => perCall(APPENDS, () => fork.append(message))) },
      { row: 'messages, unchanged', column, run: onFork((fork) => perCall(APPENDS, () => fork.messages)) },
      {
        row: 'append, then messages',
        column,
        run: onFork((fork) => perCall(10, () => appendAndRead(fork, message))),
      },
      { row: 'sequence window of 8', column, run: onFork((fork) => perCall(10, () => fork.rollingSequenceWindow(8))) },
      {
        row: 'token window of 500, first',
        column,
        run: () => {
          const fresh = sessionOf(size).activeContext
          return perCall(1, () => fresh.rollingTokenWindow(500))
        },
      },
      {
        row: 'token window of 500, again',
        column,
        run: onFork((fork) => perRepeatedCall(10, () => fork.rollingTokenWindow(500))),
      },
      {
        row: 'save after one append',
        column,
        run: () => {
          context.append(message)
          return once(() => session.save())
        },
      },
      { row: 'load', column, run: () => once(() => Session.load('bench', session.uuid, { storage: session.storage })) },
    ]
  })
}

function sessionOf(size) {
  const session = Session.create('bench', { storage: new MemoryStorage() })
  for (let index = 0; index < size; index++) {
    session.activeContext.append({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: [ContentPart.text(`${index} ${TEXT}`)],
    })
  }
  return session
}

function appendAndRead(context, message) {
  context.append(message)
  return context.messages
}
