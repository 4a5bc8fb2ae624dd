// The command line of the demo.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const DEFAULTS = { count: 120, maxTokens: 6000, encoding: 'cl100k_base' }

export const HELP = `Usage: npm run demo -- [session directory] [options]

Opens a session, compares two windows of one budget, applies a sequence window and a token window, saves, loads again
and checks the result. It works on a temporary copy: the session itself does not change.

  --max-tokens N     the token budget (default ${DEFAULTS.maxTokens})
  --count N          the number of messages of the sequence window (default ${DEFAULTS.count})
  --encoding NAME    the encoding that counts tokens (default ${DEFAULTS.encoding})
  --all              show every message, not only those around the cuts
  --keep             keep the temporary copy
  -h, --help         show this help`

/** The command line is invalid; the message fits one line. */
export class UsageError extends Error {
  name = 'UsageError'
}

/** The arguments as { help, sessionDir, count, maxTokens, encoding, all, keep }. */
export function parseOptions(args) {
  const { values, positionals } = parse(args)
  if (positionals.length > 1) throw new UsageError(`expected one session directory, found ${positionals.length}`)
  return {
    help: values.help,
    all: values.all,
    keep: values.keep,
    sessionDir: positionals[0],
    count: integer('count', values.count),
    maxTokens: integer('max-tokens', values['max-tokens']),
    encoding: values.encoding,
  }
}

function parse(args) {
  const options = {
    count: { type: 'string', default: String(DEFAULTS.count) },
    'max-tokens': { type: 'string', default: String(DEFAULTS.maxTokens) },
    encoding: { type: 'string', default: DEFAULTS.encoding },
    all: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  }
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error.message.split(/\.\s|\n/, 1)[0])
  }
}

function integer(name, text) {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new UsageError(`--${name}: expected a non-negative integer, found '${text}'`)
}

/** The full path of the session directory `named`. By default that of the one session in `examples`. */
export function findSessionDir(named, examples) {
  if (named === undefined) return join(examples, sessionsIn(examples)[0])
  // npm runs scripts in the folder of package.json; INIT_CWD is where the user is.
  const start = process.env.npm_lifecycle_event === 'demo' ? process.env.INIT_CWD : undefined
  const directory = resolve(start ?? '.', named)
  if (existsSync(join(directory, 'session.json'))) return directory
  const [inside] = sessionsIn(directory)
  const hint = inside === undefined ? '' : `; did you mean ${join(directory, inside)}?`
  throw new UsageError(`${directory} is not a session directory: it has no session.json${hint}`)
}

function sessionsIn(folder) {
  try {
    return readdirSync(folder).filter((name) => existsSync(join(folder, name, 'session.json')))
  } catch {
    return []
  }
}
