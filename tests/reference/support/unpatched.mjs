// The unpatched reference with all of its faults, and sessions of this package to compare with it.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { available, Oracle } from '../oracle.mjs'
import { MemoryStorage, Session } from './package.mjs'
import { sessionFile } from './write-files.mjs'

export const oracle = available && new Oracle({ asIs: true })
after(() => oracle?.close())

export function tempDir(t) {
  const path = mkdtempSync(join(tmpdir(), 'peteos-session-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export const text = (id, content = id, fields = {}) => ({
  role: 'user',
  id,
  content: [{ type: 'text', text: content }],
  ...fields,
})
export const append = (...args) => ({ do: 'append', message: JSON.stringify(text(...args)) })
export const ids = (messages) => messages.map(({ id }) => id)

/** A session of the reference, with `step` for a step and `messages` for the messages of its first context. */
export async function reference(t, start = {}) {
  const world = await oracle.open({ ...start, plain: true })
  t.after(() => world.close())
  const context = async (number = 0) => JSON.parse((await world.step({ do: 'dumps' })).dumps.at(number))
  return {
    step: world.step,
    /** Runs steps that must succeed; resolves to the result of the last. */
    async steps(...steps) {
      let result
      for (const step of steps) {
        result = await world.step(step)
        assert.equal(result.error, undefined, `${JSON.stringify(step)}: ${result.error} ${result.message}`)
      }
      return result
    },
    context,
    async ids(number) {
      return ids((await context(number)).messages)
    },
  }
}

/** A session of this package in memory with these messages. */
export function session(...messages) {
  const made = Session.create('parent', { storage: new MemoryStorage() })
  for (const message of messages) made.activeContext.append(message)
  return made
}

/** A session of files, in a directory or in memory. */
export const UUID = '20010203-x'
export const filesOf = (context, fields = '') => ({
  'session.json': sessionFile(UUID, 'c', { unknown: fields || null }),
  'c.json': context,
})
export async function loaded(files) {
  const storage = new MemoryStorage()
  for (const [name, content] of Object.entries(files))
    await storage.write(`parent/${UUID}/${name}`, new TextEncoder().encode(content))
  return Session.load('parent', UUID, { storage })
}
