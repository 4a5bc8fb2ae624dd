// The simplest implementation of a context as docs/format.md describes it, to compare the package with.

const USUAL = ['system_prompt', 'tools', 'messages']

export class Model {
  /** In display order: `{ id, sequence, tokens }`. */
  messages = []
  /** `[name, index]`, ascending. */
  anchors = []
  /** The sequence number of each anchor, in order of creation. */
  anchorSequences = []
  counter = 0
  messageSequence = 0
  systemId = null
  toolsId = null

  static create({ system, tools } = {}) {
    const model = new Model()
    for (const name of USUAL) model.addAnchor(name, 0)
    if (system) model.appendSpecial('systemId', system, 'system_prompt')
    if (tools) model.appendSpecial('toolsId', tools, 'tools')
    return model
  }

  addAnchor(name, index, afterExisting = true) {
    this.anchorSequences.push(this.counter++)
    const goesBefore = ([, existing]) => (afterExisting ? existing > index : existing >= index)
    const found = this.anchors.findIndex(goesBefore)
    this.anchors.splice(found === -1 ? this.anchors.length : found, 0, [name, index])
  }

  append({ id, tokens }, anchor = 'messages') {
    const position = this.anchors.findIndex(([name]) => name === anchor)
    const index = this.anchors[position][1]
    this.messages.splice(index, 0, { id, tokens, sequence: this.counter++ })
    this.messageSequence++
    for (const point of this.anchors.slice(position)) point[1]++
  }

  appendSpecial(field, message, anchor) {
    this.append(message, anchor)
    this[field] = message.id
  }

  get system() {
    const [first] = this.messages
    return first !== undefined && first.id === this.systemId ? first : null
  }

  get tools() {
    return this.messages.slice(0, 2).find((message) => message.id === this.toolsId) ?? null
  }

  get specials() {
    return [this.system, this.tools].filter((message) => message !== null)
  }

  /** The non-special messages, oldest first. */
  get ranked() {
    const specials = this.specials
    return this.messages
      .filter((message) => !specials.includes(message))
      .sort((one, other) => one.sequence - other.sequence)
  }

  /** The first anchor whose index is greater than the message's position. */
  homeOf(message) {
    const position = this.messages.indexOf(message)
    return this.anchors.find(([, index]) => index > position)[0]
  }

  fork({ start = null, end = null, system = null, tools = null } = {}) {
    const bound = (value, absent) => (value === null ? absent : value < 0 ? this.counter + value : value)
    const low = bound(start, 0)
    const high = bound(end, this.counter)
    const inRange = (sequence) => sequence >= low && sequence < high
    const selected = this.messages.filter((message) => inRange(message.sequence))
    // The reference pairs sequence numbers in order of creation with anchors in order of position.
    const anchors = this.anchors.filter((_, position) => inRange(this.anchorSequences[position]))
    // The anchor of each message in the range is kept, even that of a replaced special message.
    const homes = selected.map((message) => this.homeOf(message))
    return this.forkOf(selected, [...anchors.map(([name]) => name), ...homes], { system, tools })
  }

  forkOf(selected, anchorNames, { system = null, tools = null } = {}) {
    const child = new Model()
    const taken = new Set([...selected, ...this.specials])
    if (system) taken.delete(this.system)
    if (tools) taken.delete(this.tools)
    const names = new Set([...USUAL, ...anchorNames, ...[...taken].map((message) => this.homeOf(message))])
    for (const [name] of this.anchors) if (names.has(name)) child.addAnchor(name, 0)
    for (const message of this.messages) if (taken.has(message)) child.append(message, this.homeOf(message))
    child.systemId = this.system?.id ?? null
    child.toolsId = this.tools?.id ?? null
    if (system) child.appendSpecial('systemId', system, 'system_prompt')
    if (tools) child.appendSpecial('toolsId', tools, 'tools')
    return child
  }

  /** The messages that a sequence window keeps, oldest first. */
  keptByCount(count) {
    const { ranked } = this
    return ranked.slice(Math.max(0, ranked.length - count))
  }

  /** The messages that a token window keeps, oldest first. */
  keptByTokens(maxTokens) {
    let total = sum(this.specials)
    const kept = []
    for (const message of this.ranked.reverse()) {
      if (total + message.tokens > maxTokens) break
      total += message.tokens
      kept.unshift(message)
    }
    return kept
  }

  /** The window that keeps these messages; null if that is all of them. */
  windowOf(kept) {
    return kept.length === this.ranked.length ? null : this.forkOf(kept, [])
  }

  total() {
    return sum(this.messages)
  }
}

export function sum(messages) {
  return messages.reduce((total, message) => total + message.tokens, 0)
}

/** The parts of a context, or of its model, that must be equal. */
export function shape(context) {
  if (context === null) return null
  if (context instanceof Model) {
    return {
      messages: context.messages.map(({ id, sequence }) => [id, sequence]),
      anchors: context.anchors,
      anchorSequences: context.anchorSequences,
      counter: context.counter,
      messageSequence: context.messageSequence,
      system: context.system?.id ?? null,
      tools: context.tools?.id ?? null,
    }
  }
  const dict = context.rawDict
  return {
    messages: context.messages.map((message) => [message.id, message._sequence_number]),
    anchors: context.anchorPoints,
    anchorSequences: dict._anchor_sequences,
    counter: dict._mutation_counter,
    messageSequence: dict.message_sequence,
    system: context.systemPromptMessage?.id ?? null,
    tools: context.toolDefinitionsMessage?.id ?? null,
  }
}
