// Runs the same steps on the package as oracle.py on the reference, with answers of the same form.
import { compactText, parseText } from './json-text.mjs'
import { MemoryStorage, Session } from './package.mjs'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const NAMED = new RegExp(`\\d{8}-${UUID}|${UUID}|\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}`, 'g')
/** Times given by a program are in 2001. */
const NOW = /^(?!2001)\d{4}-\d\d-\d\dT/

/** A file in the form in which it is compared. */
export function canonicalFile(content) {
  const fields = parseText(content, { anyEscapes: true })
  fields.delete('"_anchor_sequences"')
  return compactText(fields)
}

const text = (bytes) => new TextDecoder().decode(bytes)

export class World {
  contexts = []
  #session
  #names = new Map()
  #counts = {}
  #shown = new Map()
  #given = {}
  /** The children of each context that the reference knows. */
  #children = new Map()
  #plain
  #parent
  /** The storage is in memory unless there is a directory. */
  #options
  /** Its saves return the text of contexts that the session itself does not save. */
  #scratch = Session.create('scratch', { storage: new MemoryStorage() })

  constructor({ parent, plain = false }) {
    this.#plain = plain
    this.#parent = parent ?? 'parent'
    this.#options = parent === undefined ? { storage: new MemoryStorage() } : {}
  }

  static async open(start) {
    const world = new World(start)
    if (start.files) {
      world.#given = start.files
      for (const [name, content] of Object.entries(start.files)) {
        await world.#options.storage.write(`parent/${start.uuid}/${name}`, new TextEncoder().encode(content))
      }
    }
    if (start.uuid) {
      world.#use(await Session.load(world.#parent, start.uuid, world.#options))
      return world
    }
    const specials = { systemPromptMessage: parsed(start.system), toolDefinitionsMessage: parsed(start.tools) }
    const session = Session.create(world.#parent, { ...specials, ...world.#options })
    world.#use(session)
    world.#name('session', session.uuid)
    world.#name('context', session.activeContextId)
    world.#nameSpecials(session.activeContext, specials)
    return world
  }

  #use(session) {
    this.#session = session
    this.contexts = session.activeContext ? [session.activeContext] : []
  }

  /** Runs a step after making its relative arguments absolute; resolves to `{ step, outcome }`. */
  async step(given) {
    const step = this.#resolved(given)
    let result
    try {
      const { do: name, ...args } = step
      result = await this[name](args)
    } catch (error) {
      // An error that is not of the package's classes is a defect, whatever the reference does.
      result = { error: error?.code ? error.name : `${error?.stack}` }
    }
    const active = this.#session.activeContextId
    return { step, outcome: { result, active: active && this.#named(active), dumps: await this.#changes() } }
  }

  // Names

  #name(kind, value) {
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1
    this.#names.set(value, `${kind}-${this.#counts[kind]}`)
  }

  #nameNew(message, given) {
    if (!('id' in given)) this.#name('message', message.id)
  }

  #nameSpecials(context, { systemPromptMessage, toolDefinitionsMessage }) {
    const named = (id) => context.messages.find((message) => message.id === id)
    if (systemPromptMessage) this.#nameNew(named(context.rawDict.system_prompt_message_id), systemPromptMessage)
    if (toolDefinitionsMessage)
      this.#nameNew(named(context.rawDict.tool_definitions_message_id), toolDefinitionsMessage)
  }

  #named(text) {
    if (this.#plain) return text
    return text.replace(NAMED, (match) => (NOW.test(match) ? 'now' : (this.#names.get(match) ?? match)))
  }

  // Dumps

  async #dump(context) {
    this.#scratch.setActiveContext(context)
    await this.#scratch.save()
    const file = await this.#scratch.storage.read(`${this.#scratch.sessionDir}/${context.id}.json`)
    const fields = parseText(this.#named(text(file)))
    const sequences = fields.get('"_anchor_sequences"') ?? []
    fields.delete('"_anchor_sequences"')
    return compactText(this.#withChildren(fields, context).set('"(anchor sequences)"', sequences))
  }

  #written(name, content) {
    if (name === 'session.json') return content
    return compactText(this.#withChildren(parseText(content), this.#session.activeContext))
  }

  /**
   * The fields of a file with all children: a file of the reference also names the forks that were never saved, and so has
   * them after a reload.
   */
  #withChildren(fields, context) {
    const known = this.#children.get(context.id) ?? []
    const children = [...known, ...context.children.filter((id) => !known.includes(id))]
    this.#children.set(context.id, children)
    return fields.set('"children"', parseText(this.#named(JSON.stringify(children))))
  }

  async dumps() {
    return Promise.all(this.contexts.map((context) => this.#dump(context)))
  }

  ids() {
    return { uuid: this.#session.uuid, contexts: this.contexts.map(({ id }) => id) }
  }

  async #changes() {
    const changed = {}
    for (const context of this.contexts) {
      const dump = await this.#dump(context)
      const key = this.#named(context.id)
      if (this.#shown.get(key) !== dump) changed[key] = dump
      this.#shown.set(key, dump)
    }
    return changed
  }

  // Steps

  #context(on = 0) {
    return this.contexts[on % this.contexts.length]
  }

  #made(child) {
    if (child === null) return { context: null }
    this.#name('context', child.id)
    this.contexts.push(child)
    return { context: this.#named(child.id) }
  }

  append({ message, on, anchor = 'messages' }) {
    const given = JSON.parse(message)
    this.#nameNew(this.#context(on).append(given, anchor), given)
    return {}
  }

  addAnchor({ name, index, on, after = true }) {
    this.#context(on).addAnchor(name, index, { afterExisting: after })
    return {}
  }

  update({ message, changes, on }) {
    const { messages } = this.#context(on)
    if (messages.length === 0) return { error: true }
    this.#context(on).updateMessage(messages[message % messages.length].id, JSON.parse(changes))
    return {}
  }

  fork({ on, start, end, system, tools }) {
    const context = this.#context(on)
    const special = (json, own) => (json === 'same' ? own : parsed(json))
    const child = context.fork({
      start,
      end,
      systemPromptMessage: special(system, context.systemPromptMessage),
      toolDefinitionsMessage: special(tools, context.toolDefinitionsMessage),
    })
    const given = (json) => (json === 'same' ? undefined : parsed(json))
    this.#nameSpecials(child, { systemPromptMessage: given(system), toolDefinitionsMessage: given(tools) })
    return this.#made(child)
  }

  async stripThinking({ on }) {
    const parent = this.#context(on)
    const child = parent.stripThinking()
    const made = child.messageCount === parent.messages.length ? this.#made(child) : {}
    if (!made.context) this.#name('context', child.id)
    const messages = parseText(await this.#dump(child)).get('"messages"')
    for (const message of messages) message.delete('"_sequence_number"')
    return { ...made, messages: compactText(messages) }
  }

  sequenceWindow({ count, on }) {
    return this.#made(this.#context(on).rollingSequenceWindow(count))
  }

  tokenWindow({ budget, encoding, on }) {
    return this.#made(this.#context(on).rollingTokenWindow(budget, encoding))
  }

  sessionSequenceWindow({ count }) {
    return this.#activated(this.#session.rollingSequenceWindow(count))
  }

  sessionTokenWindow({ budget, encoding }) {
    return this.#activated(this.#session.rollingTokenWindow(budget, encoding))
  }

  #activated(child) {
    if (child !== null && child !== this.#session.activeContext) throw new Error('the window is not the active context')
    return this.#made(child)
  }

  async sweep({ counts, budgets, on }) {
    const context = this.#context(on)
    const windows = []
    for (const count of counts) {
      const plan = context.planSequenceWindow(count)
      windows.push(await this.#forgotten(context, context.rollingSequenceWindow(count), plan))
    }
    for (const [encoding, budget] of budgets) {
      const plan = context.planTokenWindow(budget, encoding)
      windows.push(await this.#forgotten(context, context.rollingTokenWindow(budget, encoding), plan))
    }
    return { windows }
  }

  /** The dump of an otherwise unused window, or the fault of its plan if they do not match. */
  async #forgotten(context, window, plan) {
    const fault = planFault(context, window, plan)
    if (window === null) return fault
    this.#name('context', window.id)
    const dump = await this.#dump(window)
    await this.#scratch.storage.remove(`${this.#scratch.sessionDir}/${window.id}.json`)
    window.free()
    return fault ?? dump
  }

  count({ encodings, on }) {
    const context = this.#context(on)
    const of = (method) => Object.fromEntries(encodings.map((name) => [name, context[method](name)]))
    return { tokens: of('tokenCounts'), totals: of('totalTokenCount') }
  }

  specials({ on }) {
    const context = this.#context(on)
    const id = (message) => message && this.#named(message.id)
    return { specials: [id(context.systemPromptMessage), id(context.toolDefinitionsMessage)] }
  }

  activate({ on }) {
    this.#session.setActiveContext(this.#context(on))
    return {}
  }

  async save() {
    await this.#session.save()
    const { sessionDir, activeContextId, storage } = this.#session
    const files = {}
    for (const name of ['session.json', `${activeContextId}.json`]) {
      const content = text(await storage.read(`${sessionDir}/${name}`))
      // An unchanged file is not written; the reference fills in optional fields.
      files[this.#named(name)] = content === this.#given[name] ? null : this.#written(name, this.#named(content))
    }
    return { files }
  }

  async reload() {
    await this.#session.save()
    this.#use(await Session.load(this.#parent, this.#session.uuid, this.#options))
    return {}
  }

  hook({ message, name, text: said }) {
    const { messages } = this.#session.activeContext
    return { id: this.#session.registerHook(messages[message % messages.length], name, () => said) }
  }

  async materialize() {
    await this.#session.materialize()
    return {}
  }

  state({ call, args = [] }) {
    return { value: this.#session.state[call](...args) ?? null }
  }

  setActive({ value }) {
    this.#session.isActive = value
    return { value: this.#session.isActive }
  }

  setAutoApprove({ tools }) {
    this.#session.autoApproveTools = tools
    return { value: [...this.#session.autoApproveTools] }
  }

  // Relative arguments: generated programs name positions and sizes that are known only when they run.

  #resolved({ place, share, exactly, spread, ...step }) {
    const context = step.do.startsWith('session') ? this.#session.activeContext : this.#context(step.on)
    if (place !== undefined) step.index = Math.round(place * context.messageCount)
    if (step.do.endsWith('equenceWindow') && share !== undefined) {
      step.count = Math.max(1, Math.round(share * ordinary(context).length))
    }
    if (step.do.endsWith('okenWindow') && share !== undefined) {
      step.budget = Math.round(share * context.totalTokenCount(step.encoding))
    }
    if (exactly !== undefined) step.budget = Math.max(0, suffixTokens(context, step.encoding, exactly[0]) + exactly[1])
    if (spread !== undefined) Object.assign(step, sweepOf(context, spread))
    return step
  }
}

/** The messages that are not special, oldest first. */
function ordinary(context) {
  const special = [context.systemPromptMessage, context.toolDefinitionsMessage]
  const others = context.messages.filter((message) => !special.includes(message))
  return others.sort((one, other) => one._sequence_number - other._sequence_number)
}

/** The tokens of the special messages and of the newest `count` others. */
function suffixTokens(context, encoding, count) {
  const { tokens, specialTokens } = context.planTokenWindow(0, encoding)
  const newest = ordinary(context).reverse().slice(0, count)
  return newest.reduce((total, { id }) => total + tokens[id], specialTokens)
}

/** Every count, and for each encoding the budgets at which something changes, and one less. */
function sweepOf(context, encodings) {
  const messages = ordinary(context)
  const budgets = encodings.flatMap((encoding, turn) => {
    const { tokens, specialTokens } = context.planTokenWindow(0, encoding)
    let total = specialTokens
    const steps = messages.toReversed().map(({ id }) => (total += tokens[id]))
    // One encoding in full, every third budget of the others.
    const chosen = steps.filter((_, index) => turn === 0 || index % 3 === turn % 3)
    return [0, specialTokens, ...chosen.flatMap((step) => [Math.max(0, step - 1), step])].map((budget) => [
      encoding,
      budget,
    ])
  })
  return { counts: messages.map((_, index) => index + 1), budgets }
}

/** The fault of the plan of a window; null if it is correct. */
function planFault(context, window, plan) {
  const all = ordinary(context).map(({ id }) => id)
  const kept = window === null ? all : ordinary(window).map(({ id }) => id)
  const faults = []
  const check = (name, expected) => {
    if (JSON.stringify(plan[name]) !== JSON.stringify(expected)) {
      faults.push(`the plan says ${name} ${JSON.stringify(plan[name])}, the window ${JSON.stringify(expected)}`)
    }
  }
  const displayed = context.messages.map(({ id }) => id)
  check(
    'kept',
    displayed.filter((id) => kept.includes(id)),
  )
  check(
    'dropped',
    displayed.filter((id) => all.includes(id) && !kept.includes(id)),
  )
  if (plan.encoding !== null) {
    check('tokensBefore', context.totalTokenCount(plan.encoding))
    check('tokensAfter', (window ?? context).totalTokenCount(plan.encoding))
  }
  return faults.length > 0 ? faults.join('\n') : null
}

function parsed(json) {
  return json === undefined || json === null ? undefined : JSON.parse(json)
}
