// Whether a session that was windowed, saved and loaded again is what it has to be. Each check gives what differs, or
// null.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { firstDifference } from './difference.mjs'
import { changedFiles } from './session-files.mjs'
import { number } from './windows.mjs'

/**
 * The checks, as [title, check]. `run` holds the `session` that was saved, `loaded` from its files again, `start` (its
 * context before the windows), the `outcomes` of these, the `encoding`, the `sessionDir`, and fingerprints: `original`
 * and `originalNow` of the session that was copied, `files` of its copy now.
 */
export function checksOf(run) {
  const { start, outcomes } = run
  const last = outcomes.at(-1)
  return [
    ['every file is whole JSON, named by the id within', () => filesAreWhole(run)],
    ['session.json names the active context', () => activeContextIsNamed(run)],
    ['each window kept what its plan said', () => plansWereFollowed(run)],
    [`the same ${number(last.after.messages.length)} messages in the same order`, () => sameOrder(run)],
    ['the same content, field by field', () => sameContent(run)],
    ['the same state, approved tools and other data', () => firstDifference(run.session.rawDict, run.loaded.rawDict)],
    [`${number(last.after.total)} tokens, counted again, ${budgetTitle(last)}`, () => withinBudget(run)],
    [`the first context still has all ${number(start.messages.length)} messages`, () => nothingLost(run)],
    ['no other file was touched', () => onlyExpectedFiles(run)],
    ['the session that was copied is as it was', () => originalIsUntouched(run)],
  ]
}

async function filesAreWhole({ sessionDir, files }) {
  for (const name of files.keys()) {
    try {
      const { id, uuid } = JSON.parse(await readFile(join(sessionDir, name), 'utf8'))
      if (name !== 'session.json' && `${id}.json` !== name) return `${name} has the id ${id}`
      if (name === 'session.json' && !sessionDir.endsWith(uuid)) return `${name} has the uuid ${uuid}`
    } catch (error) {
      return `${name}: ${error.message}`
    }
  }
  return null
}

async function activeContextIsNamed({ session, loaded, sessionDir }) {
  const named = JSON.parse(await readFile(join(sessionDir, 'session.json'), 'utf8')).active_context_id
  const expected = session.activeContext.id
  if (named !== expected) return `session.json names ${named}, expected ${expected}`
  return loaded.activeContext.id === expected ? null : `${loaded.activeContext.id} was loaded, expected ${expected}`
}

function plansWereFollowed({ outcomes }) {
  for (const { title, plan, before, after } of outcomes) {
    const dropped = new Set(plan.dropped)
    const expected = before.messages.map(({ id }) => id).filter((id) => !dropped.has(id))
    const difference = firstDifference(
      expected,
      after.messages.map(({ id }) => id),
      'message ids',
    )
    if (difference !== null) return `${title}: ${difference}`
  }
  return null
}

function sameOrder({ loaded, start, outcomes }) {
  const dropped = new Set(outcomes.flatMap(({ plan }) => plan.dropped))
  const expected = start.messages.map(({ id }) => id).filter((id) => !dropped.has(id))
  return firstDifference(
    expected,
    loaded.activeContext.messages.map(({ id }) => id),
    'message ids',
  )
}

function sameContent({ session, loaded, start }) {
  const originals = new Map(start.messages.map((message) => [message.id, message]))
  for (const message of loaded.activeContext.messages) {
    const difference = firstDifference(withoutSequence(originals.get(message.id)), withoutSequence(message))
    if (difference !== null) return `message ${message.id}: ${difference}`
  }
  return firstDifference(session.activeContext.rawDict, loaded.activeContext.rawDict)
}

/** Sequence numbers belong to a context, so that windows give new ones. */
function withoutSequence({ _sequence_number, ...message }) {
  return message
}

/** The special messages are kept whatever they cost. */
function mayExceed({ plan }) {
  return plan.kept.length === 0
}

function budgetTitle(outcome) {
  return mayExceed(outcome) ? 'of the special messages alone' : `at most ${number(outcome.budget)}`
}

function withinBudget({ loaded, encoding, outcomes }) {
  const last = outcomes.at(-1)
  const { budget, after } = last
  const total = loaded.activeContext.totalTokenCount(encoding)
  if (total !== after.total) return `${number(total)} tokens after loading, ${number(after.total)} before`
  if (total <= budget || mayExceed(last)) return null
  return `${number(total)} tokens, ${number(total - budget)} more than allowed`
}

async function nothingLost({ loaded, start }) {
  const parent = await loaded.loadContext(start.context.id)
  return firstDifference(start.messages, parent.messages, 'messages')
}

function onlyExpectedFiles({ original, files, start, outcomes }) {
  const contexts = [start, ...outcomes.map(({ after }) => after)].map(({ context }) => `${context.id}.json`)
  const expected = new Set(['session.json', ...contexts])
  const others = changedFiles(original, files).filter((name) => !expected.has(name))
  return others.length === 0 ? null : `changed as well: ${others.join(', ')}`
}

function originalIsUntouched({ original, originalNow }) {
  const changed = changedFiles(original, originalNow)
  return changed.length === 0 ? null : `changed there: ${changed.join(', ')}`
}
