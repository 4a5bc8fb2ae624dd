// Generated programs: what is done with a session, from a seed. A program is plain data:
//
//   start    'create', or 'file': what `prelude` builds is written to files first, which both sides load
//   system, tools   JSON text of the special messages, or null
//   prelude  steps `append` and `addAnchor`, done before the others
//   steps    see the methods of support/ours.mjs; `on` is the number of a context, counted from 0 round and round
//
// Messages are JSON text. In files numbers stand as they are written there; what is appended is text as JavaScript
// writes it, which has no other way to hand a message in.
import { Random } from '../package/support/random.mjs'
import { ENCODINGS } from './support/package.mjs'
import { contextFile, sessionFile } from './support/write-files.mjs'

const UUID = '20010203-00000000-0000-4000-8000-000000000000'
const CONTEXT_ID = '20010203-00000000-0000-4000-8000-000000000001'

export function generate(seed) {
  const random = new Random(seed)
  const inFile = random.chance(0.35)
  const make = new Generator(random, inFile)
  const program = {
    seed,
    start: inFile ? 'file' : 'create',
    system: random.chance(0.7) ? make.system() : null,
    tools: random.chance(0.55) ? make.tools() : null,
    extras: inFile ? make.fileExtras() : null,
    prelude: make.prelude(random.integer(0, random.chance(0.1) ? 30 : 10)),
  }
  make.inFile = false
  return { ...program, steps: make.steps(random.integer(4, 14)) }
}

/** What both sides are given: the start of a world and all the steps in it. */
export function startOf({ start, system, tools, extras, prelude, steps }) {
  if (start === 'create')
    return { start: withJavaScriptNumbers({ system, tools }), steps: [...prelude, ...steps].map(withJavaScriptNumbers) }
  const files = {
    'session.json': sessionFile(UUID, CONTEXT_ID, extras?.session),
    [`${CONTEXT_ID}.json`]: contextFile(CONTEXT_ID, { system, tools, prelude, ...extras?.context }),
  }
  return { start: { uuid: UUID, files }, steps: steps.map(withJavaScriptNumbers) }
}

/** A function that gives a message as JSON text at each call; none holds the text `without`. */
export function messagesOf(random, { without } = {}) {
  const make = new Generator(random, false)
  return () => {
    for (;;) {
      const { message } = withJavaScriptNumbers({ message: make.message() })
      if (without === undefined || !message.includes(without)) return message
    }
  }
}

/** JSON texts of special messages, or null where there is none. */
export function specialsOf(random, { all = false } = {}) {
  const make = new Generator(random, false, 's')
  return withJavaScriptNumbers({
    system: all || random.chance(0.7) ? make.system() : null,
    tools: all || random.chance(0.6) ? make.tools() : null,
  })
}

function withJavaScriptNumbers(step) {
  const text = (json) => (json === 'same' ? json : JSON.stringify(JSON.parse(json)))
  const changed = { ...step }
  for (const key of ['message', 'changes', 'system', 'tools'])
    if (typeof step[key] === 'string') changed[key] = text(step[key])
  return changed
}

const SCRIPTS = [
  'The quick brown fox jumps over the lazy dog. ',
  'naïve façade — “déjà vu”… ',
  'Zürich, Łódź, İstanbul, ǆ ',
  'Съешь ещё этих мягких французских булок. ',
  'الأنظمة الموزعة تفشل جزئياً ',
  'בראשית ברא אלהים ',
  'नमस्ते दुनिया, क्षत्रिय ',
  'สวัสดีชาวโลก ',
  '日本語のテキスト、カタカナ。',
  '你好，世界。分词器',
  '안녕하세요 세계 ',
  'ქართული ',
  '𐍈𝔘𝕟𝕚𝕔𝕠𝕕𝕖 ',
  'e\u0301 a\u0308\u0323 ',
  '👩‍👩‍👧‍👦👍🏽🏳️‍🌈🇩🇪 ',
  '☃\ufe0f❤️‍🔥',
  '\u0000\u0001\u0007\b\t\v\f\r\n\u001b[0m\u001f',
  '\u007f\u0080\u0085\u009f',
  '\u2028\u2029',
  '\ufeff\u200b\u200e\u202e\u00ad',
  '\uffff\ufdd0\ue000\u{10ffff}',
  '"quoted" \\backslash\\ /slash/ \\u0041 ',
  "it's 'single' `back` ",
  '{"json": [1, 2.50, null]}',
  '```js\nconst x = () => `${y}`\n```\n',
  '<|endoftext|><|fim_prefix|><|im_start|>',
  'https://example.org/a?b=c&d=%20#e ',
  '1234567890 3.14159 1e16 0x1F ',
  '\n\n\n',
  '\r\n\t\t  ',
  '        ',
  '--------',
  'SCREAMING_SNAKE camelCase kebab-case ',
  "I'll we've they'd IT'S ",
  '…‥—–',
  '½⅓①²₃',
  'ﬁﬂ㎏',
  '\u3000全角　空白',
]
const RUNS = ['a', ' ', '\n', '0', '=', 'ab', 'é', '漢', '😀', '\\', '"', '\u0000', '\u2028', '- ', '👍🏽']
const KEYS = [
  '',
  'a',
  '1',
  '0',
  '10',
  '__proto__',
  'constructor',
  'toString',
  'ключ',
  'a.b',
  'with space',
  '"',
  '\\',
  '\u2028',
  '😀',
  'id',
  'messages',
  '_x',
  'metadata',
  '$serde_json::private::Number',
  '$serde_json::private::RawValue',
  'k'.repeat(60),
]
const NUMBERS = `
  0 -0 1 -1 42 1e16 1E16 1e+16 9999999999999998.0 5e-324 -5e-324 -0.0 0.0 1.0 100.0 0.1 1e5 1E-5
  0.0001 0.00001 123456789.123456789 1.7976931348623157e308 2.2250738585072014e-308 9007199254740993
  9223372036854775807 9223372036854775808 -9223372036854775809 18446744073709551616
  123456789012345678901234567890 1e22 1e21 123456789012345680000 0.30000000000000004 1.50 2.5e-7 1e-7
  4.35 1e100 1e400 -1e400`
  .trim()
  .split(/\s+/)
const ANCHORS = ['notes', 'pinned', 'résumé', 'a', '', '__proto__', 'results of call-1', 'messages ']
const HOOKS = ['mood', 'time', 'tool_list', 'tool_filter', 'a:b']
const STATE_NAMES = ['step', '2', '1', '__proto__', '', 'ключ']

class Generator {
  #random
  #prefix
  #count = 0
  #calls = 0
  /** The names that anchors were added with so far. */
  #anchors = []

  constructor(random, inFile, prefix = 'm') {
    this.#random = random
    this.#prefix = prefix
    this.inFile = inFile
  }

  // Messages

  system() {
    const random = this.#random
    const text = this.text()
    const fields = [this.#idField()]
    if (random.chance(0.5)) fields.push(`"_static_text":${JSON.stringify(text)}`)
    fields.push(...this.#kind('system', 'SystemPromptMessage', 'Persona'))
    if (random.chance(0.9)) fields.push(`"content":[{"type":"text","text":${JSON.stringify(text)}}]`)
    return this.#object(fields)
  }

  tools() {
    const tools = this.#list(0, 4, () => this.#tool(true))
    const fields = [this.#idField(), `"content":[${tools}]`]
    fields.push(...this.#kind('tool', 'ToolDefinitionsMessage', 'Toolbox'))
    return this.#object(fields)
  }

  /** The role and type of a special message, where they are said; what the role of a subclass is only its class knows. */
  #kind(role, type, subclass) {
    const random = this.#random
    const isSubclass = random.chance(0.2)
    const hasRole = random.chance(this.inFile ? (isSubclass ? 1 : 0.9) : 0.3)
    const hasType = this.inFile || random.chance(0.3)
    return [hasRole && `"role":"${role}"`, hasType && `"_type":"${isSubclass ? subclass : type}"`]
  }

  #tool(typed) {
    const name = this.#random.pick(['read', 'write', 'get_weather', 'internal_reset', 'a', 'Read'])
    return `{${typed ? '"type":"tool",' : ''}"name":"${name}","description":${this.#string()},"parameters":${this.#object(
      ['"type":"object"', `"properties":{"x":${this.value(2)}}`],
    )}}`
  }

  message() {
    const random = this.#random
    const role = random.pick(['user', 'user', 'assistant', 'assistant', 'assistant', 'tool', 'system'])
    const fields = [`"role":"${role}"`]
    const thinks = role === 'assistant' && random.chance(0.35)
    const parts = this.#list(random.chance(0.08) ? 0 : 1, 3, () => this.#part(role, thinks))
    if (thinks && random.chance(0.6)) parts.unshift(`{"type":"thinking","text":${this.#string()}}`)
    if (random.chance(0.96)) fields.push(`"content":[${parts}]`)
    fields.push(this.#idField())
    if (this.inFile || random.chance(0.7)) fields.push('"creation_timestamp":"2001-02-03T04:05:06.000007"')
    if (random.chance(0.3)) fields.push(`"metadata":${this.#metadata()}`)
    if (random.chance(0.1))
      fields.push(`${JSON.stringify(random.pick(['mood', '1', 'extra', '__proto__']))}:${this.value(2)}`)
    if (random.chance(0.08)) fields.push('"_type":"Note"')
    if (!thinks && random.chance(0.05)) fields.push(`"token_count":${random.integer(0, 50)}`)
    return this.#object(fields)
  }

  #part(role, thinks) {
    const random = this.#random
    const string = () => this.#string()
    const extra = random.chance(0.05) ? `,"extra":${this.value(2)}` : ''
    const kind = random.pick(['text', 'text', 'text', 'media', 'calls', 'calls', 'other'])
    if (thinks && random.chance(0.3)) return `{"type":"thinking","text":${string()}${extra}}`
    if (kind === 'media') {
      const type = random.pick(['image', 'image', 'video', 'audio', 'pdf'])
      const source = random.chance(0.5)
        ? `{"type":"base64","data":"${this.#base64()}","media_type":"image/png"}`
        : `{"type":"url","url":${JSON.stringify(`https://example.org/${random.integer(0, 99)}.png`)}}`
      return `{"type":"${type}","source":${source}${extra}}`
    }
    if (kind === 'calls' && role === 'assistant') {
      const args = JSON.stringify(random.chance(0.9) ? this.#inText(() => this.value(3)) : this.text())
      return `{"type":"tool_use","call_id":"call-${++this.#calls}","name":"read","arguments":${args},"approval_status":"pending"${extra}}`
    }
    if (kind === 'calls' && role === 'tool') {
      return `{"type":"tool_result","call_id":"call-${random.integer(1, this.#calls + 1)}","content":${string()},"execution_status":"executed"${extra}}`
    }
    if (kind === 'other' && random.chance(0.4)) return `{"type":"hologram","data":${this.value(3)}}`
    return `{"type":"text","text":${string()}${extra}}`
  }

  #idField() {
    this.#count += 1
    if (!this.inFile && this.#random.chance(0.15)) return ''
    return `"id":"${this.#prefix}${this.#count}"`
  }

  #metadata() {
    const keys = this.#list(0, 5, () => this.#random.pick(KEYS))
    return this.#object([...new Set(keys)].map((key) => `${JSON.stringify(key)}:${this.value(2)}`))
  }

  // Values, as JSON text

  value(depth) {
    const random = this.#random
    const kind = random.integer(0, depth > 0 ? 8 : 6)
    if (kind <= 2) return this.number()
    if (kind === 3) return this.#string()
    if (kind <= 6) return random.pick(['null', 'true', 'false', '""', '[]', '{}'])
    if (kind === 7) return `[${this.#list(0, 4, () => this.value(depth - 1))}]`
    const keys = [...new Set(this.#list(0, 4, () => random.pick(KEYS)))]
    return this.#object(keys.map((key) => `${JSON.stringify(key)}:${this.value(depth - 1)}`))
  }

  number() {
    const random = this.#random
    if (random.chance(0.6)) return random.pick(NUMBERS)
    if (random.chance(0.3)) return String(random.integer(-1e6, 1e6))
    const number = (random.next() - 0.5) * 10 ** random.integer(-30, 30)
    return String(number)
  }

  /** A value within a text keeps its numbers everywhere. */
  #inText(make) {
    const { inFile } = this
    this.inFile = true
    const text = make()
    this.inFile = inFile
    return text
  }

  text() {
    const random = this.#random
    if (random.chance(0.04)) return random.pick(RUNS).repeat(random.integer(50, 600))
    return this.#list(0, 5, () => random.pick(SCRIPTS)).join('')
  }

  #string() {
    return JSON.stringify(this.text())
  }

  #base64() {
    return Array.from({ length: this.#random.integer(1, 20) }, () =>
      this.#random.pick(['iVBO', 'Rw0K', 'GgoA', 'AAAN', '/+9=', 'SUhE']),
    ).join('')
  }

  #object(fields) {
    return `{${fields.filter(Boolean).join(',')}}`
  }

  #list(least, most, make) {
    return Array.from({ length: this.#random.integer(least, most) }, make)
  }

  // Files

  fileExtras() {
    const random = this.#random
    const unknown = () => (random.chance(0.4) ? `${JSON.stringify(`x${random.pick(KEYS)}`)}:${this.value(3)}` : null)
    const state = [...new Set(this.#list(0, 3, () => random.pick(STATE_NAMES)))]
    return {
      session: { unknown: unknown(), state: state.map((name) => [name, this.text()]) },
      context: { unknown: unknown(), anchorSequences: random.chance(0.5), bare: random.chance(0.2) },
    }
  }

  // Steps

  prelude(length) {
    return Array.from({ length }, () => (this.#random.chance(0.8) ? this.#append() : this.#addAnchor()))
  }

  steps(length) {
    const steps = Array.from({ length }, () => this.#step())
    const on = this.#on()
    const encodings = this.#random.chance(0.2) ? ENCODINGS : [this.#encoding(), this.#encoding()]
    return [
      ...steps,
      { do: 'count', on, encodings: ENCODINGS },
      { do: 'specials', on },
      { do: 'sweep', on, spread: encodings },
    ]
  }

  #step() {
    const random = this.#random
    const on = this.#on()
    const roll = random.integer(0, 99)
    if (roll < 32) return { ...this.#append(), on }
    if (roll < 42) return { ...this.#addAnchor(), on }
    if (roll < 52) return this.#fork(on)
    if (roll < 56) return { do: 'stripThinking', on }
    if (roll < 60) return { do: 'sequenceWindow', on, ...this.#size('count') }
    if (roll < 64) return { do: 'tokenWindow', on, encoding: this.#encoding(), ...this.#size('budget') }
    if (roll < 69) return { do: 'sessionSequenceWindow', ...this.#size('count') }
    if (roll < 74) return { do: 'sessionTokenWindow', encoding: this.#encoding(), ...this.#size('budget') }
    if (roll < 78) return { do: 'activate', on }
    if (roll < 81) return { do: 'save' }
    if (roll < 84) return { do: 'reload' }
    if (roll < 86) return { do: 'count', on, encodings: [this.#encoding(), this.#encoding()] }
    if (roll < 89) return { do: 'update', on, message: random.integer(0, 9), changes: this.#changes() }
    if (roll < 92) return { do: 'hook', message: random.integer(0, 1), ...this.#hook() }
    if (roll < 94) return { do: 'materialize' }
    if (roll < 97) return this.#state()
    if (roll < 98) return { do: 'setActive', value: random.chance(0.5) }
    return { do: 'setAutoApprove', tools: this.#list(0, 2, () => random.pick(['read', 'write', 'é'])) }
  }

  #append() {
    const random = this.#random
    const known = ['system_prompt', 'tools', ...this.#anchors, ...this.#anchors]
    const anchor = random.chance(0.6) ? 'messages' : random.pick(random.chance(0.95) ? known : [...ANCHORS, 'nowhere'])
    return { do: 'append', message: this.message(), anchor }
  }

  #addAnchor() {
    const random = this.#random
    const name = random.chance(0.95) ? random.pick(ANCHORS) : random.pick(['messages', 'tools'])
    this.#anchors.push(name)
    const place = random.chance(0.2) ? random.pick([0, 1]) : random.next()
    return { do: 'addAnchor', name, ...(random.chance(0.04) ? { index: 99 } : { place }), after: random.chance(0.5) }
  }

  #fork(on) {
    const random = this.#random
    const bound = () => (random.chance(0.4) ? undefined : random.integer(-25, 30))
    const replacement = (make) => (random.chance(0.75) ? undefined : random.chance(0.15) ? 'same' : make())
    const [start, end] = [bound(), bound()]
    return {
      do: 'fork',
      on,
      start,
      end,
      system: replacement(() => this.system()),
      tools: replacement(() => this.tools()),
    }
  }

  #size(key) {
    const random = this.#random
    if (random.chance(0.7)) return { share: random.next() }
    return { [key]: key === 'count' ? random.integer(1, 20) : random.pick([0, 1, 10, 50, 200, 1000, 100000]) }
  }

  #changes() {
    const random = this.#random
    const fields = random.chance(0.6) ? [`"content":[${this.#part('user', false)}]`] : []
    return this.#object([...fields, `"metadata":${this.#metadata()}`, random.chance(0.3) && `"later":${this.value(1)}`])
  }

  #hook() {
    const name = this.#random.pick(HOOKS)
    if (name === 'tool_list') return { name, text: `[${this.#list(0, 4, () => this.#tool(false))}]` }
    if (name === 'tool_filter') {
      return {
        name,
        text: JSON.stringify(
          this.#list(0, 2, () =>
            this.#random.pick(['read', 'get_.*', 'internal_\\w+', 'a|b', '(read|write)', 're', '[Rr]ead', '']),
          ),
        ),
      }
    }
    return { name, text: this.text() }
  }

  #state() {
    const random = this.#random
    const call = random.pick(['create', 'create', 'get', 'update', 'delete', 'list'])
    const value = () => random.pick(['one', 'two', ''])
    const args = { create: 1, get: 0, update: 2, delete: 0, list: -1 }[call]
    const values = Array.from({ length: Math.max(args, 0) }, value)
    return { do: 'state', call, args: args < 0 ? [] : [random.pick(STATE_NAMES), ...values] }
  }

  #on() {
    return this.#random.chance(0.6) ? 0 : this.#random.integer(0, 5)
  }

  #encoding() {
    return this.#random.pick(ENCODINGS)
  }
}
