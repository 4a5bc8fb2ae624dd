// Runs the demo and prints its output. Needs the built package.
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { styleText } from 'node:util'
import * as peteos from '../../dist/index.mjs'
import { SetupError } from '../setup/steps.mjs'
import { checksOf } from './checks.mjs'
import { compareWindows, comparisonTable, messageTable, refusal } from './compare-windows.mjs'
import { firstWords } from './describe-message.mjs'
import { UsageError } from './options.mjs'
import { formatNumber, toColumns, toLine } from './text.mjs'
import { changedFiles, copySession, readSessionFiles } from './working-copy.mjs'

const { Session } = peteos
const USUAL_WIDTH = 110

/** Resolves to whether all checks passed. */
export async function runDemo(originalDir, options) {
  const copy = await copySession(originalDir)
  try {
    return await demonstrate(originalDir, copy, options)
  } catch (error) {
    throw inWords(error, copy.sessionDir, originalDir)
  } finally {
    if (!options.keep) await copy.remove()
  }
}

async function demonstrate(originalDir, copy, options) {
  const original = await readSessionFiles(copy.sessionDir)
  const session = await load(copy)
  const context = session.activeContext
  if (context === null) throw new SetupError(`${join(originalDir, 'session.json')} names no active context.`)
  // The compared windows are made in a separate session, which is never saved.
  const columns = compareWindows(peteos, (await load(copy)).activeContext, options)
  const tokens = context.tokenCounts(options.encoding)
  const width = process.stdout.columns || Number(process.env.COLUMNS) || USUAL_WIDTH
  const others = (await session.listContexts()).filter((id) => id !== context.id).length
  const steps = applyWindows(session, options)

  const budget = `${formatNumber(options.maxTokens)} tokens of ${options.encoding}`
  print(
    `Session ${toLine(originalDir)}`,
    `  active context  ${context.id}, ${formatNumber(steps[0].before.messages.length)} messages`,
    `  beside it       other contexts: ${others}, approved tools: ${session.autoApproveTools.length}, entries of state: ${session.state.list().length}`,
  )
  print(`A budget of ${budget}`, ...comparisonTable(columns, width))
  print(
    ...messageTable(columns, tokens, { width, all: options.all, dim: dimmer() }),
    `'from here' counts the special messages and all from this one on: with 'message' the window begins where that fits,`,
    `with 'turn' at the next message of the user.`,
  )
  const reasons = refusal(columns)
  if (reasons.length > 0) print(...reasons)
  print("Applied to the session, with boundary 'turn'", ...toColumns(steps.map(describeStep), width))

  await session.save()
  const files = await readSessionFiles(copy.sessionDir)
  const [loaded, originalNow] = [await load(copy), await readSessionFiles(originalDir)]
  const failures = await runChecks(checksOf({ Session, session, loaded, steps, options, original, originalNow, files }))
  print(...writtenFiles(copy.sessionDir, changedFiles(original, files), options.keep))
  console.log(failures === 0 ? 'OK' : `${failures} of the checks failed`)
  return failures === 0
}

function load({ sessionDir }) {
  return Session.load(dirname(sessionDir), basename(sessionDir))
}

/** Applies a window of the last `count` messages, then one of those that fit `maxTokens`. */
function applyWindows(session, { count, maxTokens, encoding }) {
  const turn = { boundary: 'turn' }
  const apply = (title, plan, roll) => {
    const before = snapshot(session.activeContext, encoding)
    const report = plan(session.activeContext)
    roll()
    return { title, report, before, after: snapshot(session.activeContext, encoding) }
  }
  return [
    apply(
      `sequence window of ${formatNumber(count)} messages`,
      (context) => context.planSequenceWindow(count, turn),
      () => session.rollingSequenceWindow(count, turn),
    ),
    apply(
      `token window of ${formatNumber(maxTokens)} tokens`,
      (context) => context.planTokenWindow(maxTokens, encoding, turn),
      () => session.rollingTokenWindow(maxTokens, encoding, turn),
    ),
  ]
}

function snapshot(context, encoding) {
  return { id: context.id, messages: context.messages, tokens: context.totalTokenCount(encoding) }
}

function describeStep({ title, report, before, after }) {
  const first = after.messages.find(({ id }) => id === report.kept[0])
  return [
    `  ${title}`,
    `${formatNumber(before.messages.length)} to ${formatNumber(after.messages.length)} messages`,
    `${formatNumber(before.tokens)} to ${formatNumber(after.tokens)} tokens`,
    first === undefined ? '' : `from: ${firstWords(first)}`,
  ]
}

/** Resolves to the number of failed checks. */
async function runChecks(checks) {
  let failures = 0
  const lines = ['Saved, loaded again and checked']
  for (const [title, check] of checks) {
    try {
      await check()
      lines.push(`  ok      ${title}`)
    } catch (error) {
      failures += 1
      lines.push(`  FAILED  ${title}: ${toLine(error.message)}`)
    }
  }
  print(...lines)
  return failures
}

function writtenFiles(sessionDir, names, keep) {
  const written = names.map((name) => [statSync(join(sessionDir, name)).size, `bytes  ${name}`])
  const end = keep ? 'The copy is kept.' : 'The copy is removed; --keep keeps it.'
  if (written.length === 0) return [`Nothing was dropped, so nothing was written to ${toLine(sessionDir)}`, end]
  return [`Written to ${toLine(sessionDir)}`, ...toColumns(written, 200).map((line) => `  ${line}`), end]
}

/** Names the original where an error names the copy. An invalid window or encoding is a usage error. */
function inWords(error, copyDir, originalDir) {
  if (!(error instanceof peteos.SessionError)) return error
  const isOption = ['ERR_UNKNOWN_ENCODING', 'ERR_WINDOW_TOO_SMALL'].includes(error.code)
  const Class = isOption ? UsageError : SetupError
  return new Class(error.message.replaceAll(copyDir, originalDir), { cause: error })
}

function dimmer() {
  const { stdout } = process
  // `hasColors` knows NO_COLOR and terminals that have none.
  return stdout.isTTY && stdout.hasColors() ? (line) => styleText('dim', line) : (line) => line
}

function print(...lines) {
  console.log(`${lines.join('\n')}\n`)
}
