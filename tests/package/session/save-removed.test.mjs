// Saving where files of the session, or all of them, were removed since it read or wrote them.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { refused } from '../support/errors.mjs'
import { tempDir } from '../support/files.mjs'
import { load } from '../support/installed.mjs'
import { text } from '../support/values.mjs'

const { Session } = await load('peteos-session')

const changes = {
  'a change of the state': (session) => session.state.create('k', 'v'),
  'a new message': (session) => session.activeContext.append(text('new')),
}
const removals = {
  'the directory': (session) => fs.rmSync(session.sessionDir, { recursive: true }),
  'the active context': (session) => fs.rmSync(path.join(session.sessionDir, `${session.activeContextId}.json`)),
  'session.json': (session) => fs.rmSync(path.join(session.sessionDir, 'session.json')),
}

const filesOf = (directory) => fs.readdirSync(directory, { recursive: true }).sort()

for (const [removal, remove] of Object.entries(removals)) {
  for (const [name, change] of Object.entries(changes)) {
    test(`${removal} is removed, then ${name} is saved`, async (t) => {
      const directory = tempDir(t)
      const created = Session.create(directory)
      for (const content of ['1', '2', '3']) created.activeContext.append(text(content))
      await created.save()
      const session = await Session.load(directory, created.uuid)
      const parent = session.activeContext
      session.rollingSequenceWindow(2)
      await session.save()
      remove(session)
      const left = filesOf(directory)

      change(session)
      for (const save of [() => session.save(), async () => session.saveSync()]) {
        const error = await refused(save, 'ConflictError', { found: null, message: /was removed/ })
        assert.match(error.expected, /^[0-9a-f]{64}$/)
        assert.deepEqual(filesOf(directory), left, 'nothing is written, nothing is left behind')
      }
      assert.deepEqual(await session.save({ onConflict: 'fork' }), [])
      const again = await Session.load(directory, session.uuid)
      assert.deepEqual(again.rawDict, session.rawDict)
      assert.deepEqual(again.activeContext.rawDict, session.activeContext.rawDict)
      assert.deepEqual((await again.loadContext(parent.id)).rawDict, parent.rawDict, 'what was in memory is written')
      session.activeContext.append(text('later'))
      await session.save()
    })
  }
}
