// The command line of the demo.
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { sessionsIn } from './session-files.mjs'

const DEFAULTS = { count: 120, maxTokens: 8000, encoding: 'cl100k_base' }

export const HELP = `Usage: npm run demo -- [sessionDir] [options]

Opens a session, shows its messages with their tokens, applies a sequence window and then a token window, saves, loads
again and checks the result. It works on a copy in the system's folder for temporary files: the session itself stays as
it is.

  sessionDir         the directory with the session.json; by default the one below examples/demo-session
  --count N          the sequence window keeps the last N messages (${DEFAULTS.count})
  --max-tokens N     the token window keeps what fits N tokens (${DEFAULTS.maxTokens})
  --encoding NAME    the tiktoken encoding to count in (${DEFAULTS.encoding})
  -h, --help         shows this`

/** The command line cannot be followed; the message fits one line. */
export class UsageError extends Error {
  name = 'UsageError'
}

/** The arguments as { help, sessionDir, count, maxTokens, encoding }; `sessionDir` is undefined where none is given. */
export function parseOptions(args) {
  const { values, positionals } = parse(args)
  if (positionals.length > 1) throw new UsageError(`one session directory is expected, not ${positionals.length}`)
  return {
    help: values.help ?? false,
    sessionDir: positionals[0],
    count: wholeNumber('count', values.count) ?? DEFAULTS.count,
    maxTokens: wholeNumber('max-tokens', values['max-tokens']) ?? DEFAULTS.maxTokens,
    encoding: values.encoding ?? DEFAULTS.encoding,
  }
}

/** The full path of the session directory that the options name, or of the demo's own below `examples`. */
export function findSessionDir(named, examples) {
  if (named === undefined) {
    const sessions = sessionsIn(examples)
    if (sessions.length === 1) return join(examples, sessions[0])
    throw new UsageError(`${examples} has to hold one session, but it holds ${sessions.length}`)
  }
  // npm runs scripts in the folder of package.json; INIT_CWD is where the user is.
  const start = process.env.npm_lifecycle_event === 'demo' ? process.env.INIT_CWD : undefined
  const directory = resolve(start ?? '.', named)
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${directory} is no directory`)
  }
  if (statSync(join(directory, 'session.json'), { throwIfNoEntry: false }) === undefined) {
    const [inside] = sessionsIn(directory)
    const hint = inside === undefined ? '' : `; perhaps ${join(directory, inside)} is meant`
    throw new UsageError(`${directory} is no session directory, it holds no session.json${hint}`)
  }
  return directory
}

function parse(args) {
  const number = { type: 'string' }
  const options = {
    count: number,
    'max-tokens': number,
    encoding: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  }
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error.message.split(/\.\s|\n/, 1)[0])
  }
}

function wholeNumber(name, text) {
  if (text === undefined) return undefined
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number
  throw new UsageError(`--${name} has to be a whole number from 0 up, not '${text}'`)
}
