// Two processes append to one session, one with save, the other with saveSync; a third repairs it in a loop; a fourth updates
// it, is killed at random and started again.
import assert from 'node:assert/strict'
import { tempDir } from '../package/support/files.mjs'
import { load } from '../package/support/installed.mjs'
import { lostFrom, pause, startWriters } from './support/processes.mjs'
import { crashTest } from './support/suite.mjs'

const { Session } = await load('peteos-session')

/** In milliseconds after the first acknowledged message. */
const LONGEST_LIFE = 500

crashTest('several writers of one session', { usual: 40, large: 1000 }, async (t, { tries, random, row }) => {
  const directory = tempDir(t)
  const session = Session.create(directory)
  await session.save()
  const { uuid } = session
  const begin = (name, number, kind) => startWriters({ directory, uuid, name, number, kinds: [kind] })

  const writers = [begin('one', tries, 'save'), begin('other', tries, 'saveSync')]
  const repairer = begin('repairer', 1_000_000, 'repair')
  let isOver = false
  const killed = []
  const killing = (async () => {
    while (!isOver) {
      const child = begin(`killed ${killed.length}`, 1_000_000, 'update')
      killed.push(child)
      await child.first
      await pause(random.below(LONGEST_LIFE))
      child.kill()
      await child.ended
    }
  })()
  const ends = await Promise.all(writers.map(({ ended }) => ended))
  isOver = true
  await killing
  repairer.kill()
  const lost = (await repairer.ended) === 'SIGKILL' ? [] : ['the process that repairs failed']
  assert.deepEqual(ends, [0, 0])

  const written = writers.flatMap(({ lines }) => lines)
  const acknowledged = [...written, ...killed.flatMap(({ lines }) => lines)]
  assert.equal(written.length, 2 * tries)
  lost.push(...(await lostFrom(directory, uuid, acknowledged)))
  const { ok, findings } = await Session.check(directory, uuid)
  if (!ok) lost.push(...findings.map(({ message }) => message))
  const note = `${killed.length} processes killed`
  row({ what: 'save, saveSync, repair, killed', tries: 2 * tries, acknowledged: acknowledged.length, lost, note })
})
