// Checks that a session that was windowed, saved and loaded again holds the result of its windows.
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { formatNumber } from './text.mjs'
import { changedFiles } from './working-copy.mjs'

/**
 * The checks as [title, check]; a check throws if something differs. `run` holds the class `Session`, the `session`
 * that was saved, `loaded` from its files again, the `steps` of its windows, the `options`, and the texts of the files:
 * `original` and `originalNow` of the session that was copied, `files` of the copy now.
 */
export function checksOf({ Session, session, loaded, steps, options, original, originalNow, files }) {
  const first = steps[0].before
  const last = steps.at(-1).after
  const tokens = last.tokens
  return [
    [
      'the loaded session equals the saved one, field by field',
      () => {
        assert.deepEqual(loaded.rawDict, session.rawDict)
        assert.deepEqual(loaded.activeContext.rawDict, session.activeContext.rawDict)
      },
    ],
    [
      `its ${formatNumber(last.messages.length)} messages are those that the plans kept, unchanged and in order`,
      () => {
        const dropped = new Set(steps.flatMap(({ report }) => report.dropped))
        const expected = first.messages.filter(({ id }) => !dropped.has(id))
        assert.deepEqual(loaded.activeContext.messages.map(withoutSequence), expected.map(withoutSequence))
      },
    ],
    [
      `its tokens, counted again, are ${formatNumber(tokens)} of at most ${formatNumber(options.maxTokens)}`,
      () => {
        assert.equal(loaded.activeContext.totalTokenCount(options.encoding), tokens)
        assert.ok(tokens <= options.maxTokens, `${formatNumber(tokens)} tokens are over the budget`)
      },
    ],
    [
      `the first context still has its ${formatNumber(first.messages.length)} messages`,
      async () => assert.deepEqual((await loaded.loadContext(first.id)).messages, first.messages),
    ],
    [
      'Session.check finds no damage in the files',
      async () => {
        const { findings } = await Session.check(dirname(session.sessionDir), session.uuid)
        const error = findings.find(({ severity }) => severity === 'error')
        assert.ok(!error, `${error?.path}: ${error?.message}`)
      },
    ],
    [
      'no other file changed, and the original is unchanged',
      () => {
        const contexts = [first, ...steps.map(({ after }) => after)].map(({ id }) => `${id}.json`)
        const expected = new Set(['session.json', ...contexts])
        assert.deepEqual(
          changedFiles(original, files).filter((name) => !expected.has(name)),
          [],
        )
        assert.deepEqual(changedFiles(original, originalNow), [])
      },
    ],
  ]
}

/** Sequence numbers belong to a context: a window assigns new ones. */
function withoutSequence({ _sequence_number, ...message }) {
  return message
}
