// `npm run demo`: opens a session, shows its messages with their tokens, windows it, saves, loads again and checks.
import { rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { checksOf } from './demo/checks.mjs'
import { firstWords } from './demo/describe-message.mjs'
import { findSessionDir, HELP, parseOptions, UsageError } from './demo/options.mjs'
import { changedFiles, copySession, fingerprint, newCopyDir } from './demo/session-files.mjs'
import { tableOf } from './demo/table.mjs'
import { cut, harmless, toLine } from './demo/terminal-text.mjs'
import { account, applyWindows, describeOutcome, number } from './demo/windows.mjs'
import { root, SetupError, whenRun } from './setup/steps.mjs'

const EXAMPLES = join(root, 'examples', 'demo-session')
const USUAL_WIDTH = 120

/** Resolves to the exit code. */
async function main(args) {
  const options = parseOptions(args)
  if (options.help) {
    console.log(HELP)
    return 0
  }
  const originalDir = findSessionDir(options.sessionDir, EXAMPLES)
  await build()
  const peteos = await import(pathToFileURL(join(root, 'dist', 'index.mjs')))
  // An encoding that is not known is told before anything is done.
  peteos.countTokens('', options.encoding)

  const { session, sessionDir, original } = await openCopy(peteos.Session, originalDir)
  const start = account(session.activeContext, options.encoding)
  print(await headingOf(session, start, originalDir, options))
  const outcomes = applyWindows(session, options)
  print(messageTable(start, outcomes))
  const describe = describerOf(start)
  for (const outcome of outcomes) print(describeOutcome(outcome, describe))

  await session.save()
  const files = await fingerprint(sessionDir)
  const loaded = await peteos.Session.load(dirname(sessionDir), session.uuid)
  const originalNow = await fingerprint(originalDir)
  const run = { session, loaded, start, outcomes, encoding: options.encoding, sessionDir, original, originalNow, files }
  const failures = await check(checksOf(run))
  print(await writtenPaths(sessionDir, changedFiles(original, files)))
  console.log(failures === 0 ? 'OK' : `${failures} of the checks failed`)
  return failures === 0 ? 0 : 1
}

/** Loads a copy of a session; where that fails, nothing of it stays, and the error names the original. */
async function openCopy(Session, originalDir) {
  const sessionDir = await newCopyDir(originalDir)
  try {
    const original = await fingerprint(originalDir)
    await copySession(originalDir, sessionDir)
    const session = await Session.load(dirname(sessionDir), basename(sessionDir))
    if (session.activeContext !== null) return { session, sessionDir, original }
    throw new Error(`${join(sessionDir, 'session.json')} names no active context: there is nothing to show`)
  } catch (error) {
    await rm(dirname(sessionDir), { recursive: true, force: true })
    throw new SetupError(error.message.replaceAll(sessionDir, originalDir), { cause: error })
  }
}

async function headingOf(session, { context, total }, originalDir, { encoding }) {
  const others = (await session.listContexts()).filter((id) => id !== context.id)
  return [
    `Session ${session.uuid}`,
    `  original        ${harmless(originalDir)}`,
    `  working copy    ${harmless(session.sessionDir)}`,
    `  active context  ${context.id}, ${number(context.messageCount)} messages, ${number(total)} tokens of ${encoding}`,
    `  other contexts  ${others.join(', ') || 'none'}`,
    `  approved tools  ${harmless(session.autoApproveTools.join(', ')) || 'none'}`,
    `  state           ${harmless(session.state.list().join(', ')) || 'empty'}`,
  ]
}

function messageTable({ messages, tokens }, outcomes) {
  const droppedBy = new Map(outcomes.flatMap(({ name, plan }) => plan.dropped.map((id) => [id, name])))
  let total = 0
  const rows = messages.map((message, index) => {
    total += tokens[index]
    const row = { number: index + 1, message, tokens: tokens[index], total }
    return { ...row, droppedBy: droppedBy.get(message.id) ?? '' }
  })
  return tableOf(rows, terminalWidth(), dimmer())
}

/** Says in one line which message an id is of. */
function describerOf({ messages }) {
  const positions = new Map(messages.map(({ id }, index) => [id, index]))
  return (id) => {
    const message = messages[positions.get(id)]
    return cut(toLine(`#${positions.get(id) + 1} ${message.role}: ${firstWords(message)}`), terminalWidth() - 14)
  }
}

/** Runs the checks, a line for each; resolves to how many failed. */
async function check(checks) {
  let failures = 0
  const lines = ['Saved, loaded again and checked:']
  for (const [title, differenceOf] of checks) {
    const difference = await Promise.resolve()
      .then(differenceOf)
      .catch((error) => error.message)
    lines.push(difference === null ? `  ok      ${title}` : `  FAILED  ${title}: ${toLine(difference)}`)
    if (difference !== null) failures += 1
  }
  print(lines)
  return failures
}

async function writtenPaths(sessionDir, names) {
  if (names.length === 0) return ['Nothing was written, because nothing was dropped.']
  const lines = names.map(async (name) => {
    const path = join(sessionDir, name)
    const { size } = await stat(path)
    return `  ${number(size).padStart(11)} bytes  ${harmless(path)}`
  })
  return ['Written:', ...(await Promise.all(lines))]
}

function terminalWidth() {
  return process.stdout.columns || Number(process.env.COLUMNS) || USUAL_WIDTH
}

function dimmer() {
  const { stdout } = process
  // `hasColors` knows NO_COLOR and terminals that have none.
  return stdout.isTTY && stdout.hasColors() ? (line) => `\x1b[2m${line}\x1b[22m` : (line) => line
}

function print(lines) {
  console.log(`${lines.join('\n')}\n`)
}

await whenRun(import.meta.url, async () => {
  // Who reads only the first lines (`| head`) has seen enough.
  process.stdout.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  try {
    process.exitCode = await main(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError) && error.code !== 'ERR_UNKNOWN_ENCODING') throw error
    console.error(`${error.message}; see npm run demo -- --help`)
    process.exitCode = 2
  }
})
