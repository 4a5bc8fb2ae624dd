// A session of a hundred thousand messages and two hundred megabytes on disk. Each function runs in a process of its own.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ContentPart, Session } from '../dist/index.mjs'

const MESSAGES = 100_000
const MESSAGE_LENGTH = 1_800
const BUDGET = 4_000

/** Creates the session, with a different text in every message. */
export async function build(directory) {
  const { corpora } = await import('./corpora.mjs')
  const {
    texts: [prose],
  } = corpora().find(({ name }) => name === 'prose')
  const session = Session.create(directory)
  const context = session.activeContext
  const timer = timers()
  timer.start()
  for (let index = 0; index < MESSAGES; index++) {
    const start = (index * 37) % (prose.length - MESSAGE_LENGTH)
    const content = [ContentPart.text(`${index} ${prose.slice(start, start + MESSAGE_LENGTH)}`)]
    context.append({ role: index % 2 === 0 ? 'user' : 'assistant', content })
  }
  timer.stop('append')
  measureWindows(context, timer)
  timer.start()
  await session.save()
  timer.stop('save')
  context.append({ role: 'user', content: [ContentPart.text('One more.')] })
  timer.start()
  await session.save()
  timer.stop('saveAgain')
  const { size } = await stat(join(directory, session.uuid, `${context.id}.json`))
  return { uuid: session.uuid, megabytes: size / 1e6, ...timer.results() }
}

export async function load(directory, uuid) {
  const timer = timers()
  timer.start()
  const session = await Session.load(directory, uuid)
  timer.stop('load')
  measureWindows(session.activeContext, timer)
  return timer.results()
}

function measureWindows(context, timer) {
  timer.start()
  context.rollingTokenWindow(BUDGET)
  timer.stop('window')
  context.append({ role: 'user', content: [ContentPart.text('Go on.')] })
  timer.start()
  context.rollingTokenWindow(BUDGET)
  timer.stop('windowAfterAppend')
}

/** Milliseconds by name, and the peak memory of the process in megabytes. */
function timers() {
  const times = {}
  let started = 0
  return {
    start: () => {
      started = performance.now()
    },
    stop: (name) => {
      times[name] = performance.now() - started
    },
    results: () => ({ times, peakMegabytes: process.resourceUsage().maxRSS / 1000 }),
  }
}
