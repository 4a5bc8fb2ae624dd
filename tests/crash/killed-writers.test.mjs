// Processes that are killed at random while several threads of them write into one session.
import assert from 'node:assert/strict'
import { tempDir } from '../package/support/files.mjs'
import { load } from '../package/support/installed.mjs'
import { lostFrom, pause, startWriters } from './support/processes.mjs'
import { hiddenNames } from './support/sessions.mjs'
import { crashTest } from './support/suite.mjs'

const { Session } = await load('peteos-session')

/** The writers of one process: the first in its main thread, the others in worker threads. */
const PROCESSES = [
  ['save'],
  ['saveSync'],
  ['update'],
  ['save that keeps both'],
  ['save', 'saveSync', 'update'],
  ['update', 'save', 'repair'],
]
/** Sessions stay small, or most of the time would be spent on reading them. */
const ROUNDS_OF_A_SESSION = 8
/** In milliseconds after the first acknowledged message. */
const LONGEST_LIFE = 60

crashTest('killed writers', { usual: 12, large: 1000 }, async (t, { tries, random, row }) => {
  const directory = tempDir(t)
  const counts = { processes: 0, acknowledged: 0, leftovers: 0 }
  const lost = []
  while (counts.processes < tries) {
    const session = Session.create(directory)
    await session.save()
    const acknowledged = []
    for (let round = 0; round < ROUNDS_OF_A_SESSION && counts.processes < tries; round++) {
      const lives = [random.below(LONGEST_LIFE), random.below(LONGEST_LIFE)]
      const ends = lives.map(async (life) => {
        const name = `process ${counts.processes++}`
        const kinds = random.pick(PROCESSES)
        const child = startWriters({ directory, uuid: session.uuid, name, number: 1_000_000, kinds })
        await child.first
        await pause(life)
        child.kill()
        const end = await child.ended
        if (end !== 'SIGKILL') lost.push(`${name} (${kinds.join(', ')}) ended with ${end}`)
        acknowledged.push(...child.lines)
      })
      await Promise.all(ends)
      counts.leftovers += hiddenNames(session.sessionDir).length
      lost.push(...(await lostFrom(directory, session.uuid, acknowledged)))
      await Session.update(directory, session.uuid, (found) => found.state.create(`round ${round}`, 'seen'))
      const kept = hiddenNames(session.sessionDir).filter((name) => !name.endsWith('.bak'))
      lost.push(...kept.map((name) => `${name} is left`))
    }
    counts.acknowledged += acknowledged.length
  }
  assert.ok(counts.acknowledged >= tries && counts.leftovers > 0, 'some were killed while they wrote')
  const note = `${counts.leftovers} files left and cleared`
  row({ what: 'killed processes', tries: counts.processes, acknowledged: counts.acknowledged, lost, note })
})
