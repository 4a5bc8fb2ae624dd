// Writes the files of a session from a description, independently of both sides.

const INDENT = '  '

/** A `session.json`; `unknown` is the JSON text of a field, `state` a list of names and values. */
export function sessionFile(uuid, contextId, { unknown = null, state = [] } = {}) {
  const variables = state.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(', ')
  return object([
    `"uuid": "${uuid}"`,
    `"active_context_id": "${contextId}"`,
    '"auto_approve_tools": []',
    unknown,
    `"state_data": {${variables}}`,
    '"is_active": false',
  ])
}

/**
 * The file of a context: the messages and anchors after a prelude of `append` and `addAnchor`. With `bare` it lacks optional
 * fields.
 */
export function contextFile(id, { system, tools, prelude, unknown = null, anchorSequences = false, bare = false }) {
  const messages = []
  const anchors = []
  const sequences = []
  let next = 0
  const addAnchor = (name, index, after) => {
    if (anchors.some((anchor) => anchor.name === name) || index > messages.length) return
    const later = anchors.findIndex((anchor) => (after ? anchor.index > index : anchor.index >= index))
    anchors.splice(later < 0 ? anchors.length : later, 0, { name, index })
    sequences.push(next++)
  }
  const append = (text, name) => {
    const position = anchors.findIndex((anchor) => anchor.name === name)
    if (position < 0) return
    const fields = text.slice(1, -1)
    messages.splice(anchors[position].index, 0, `{${fields}${fields && ','}"_sequence_number":${next++}}`)
    for (const anchor of anchors.slice(position)) anchor.index += 1
  }
  for (const name of ['system_prompt', 'tools', 'messages']) addAnchor(name, 0, true)
  const ids = [
    [system, 'system_prompt'],
    [tools, 'tools'],
  ].map(([text, anchor]) => {
    if (text === null) return null
    append(text, anchor)
    return JSON.parse(text).id
  })
  for (const step of prelude) {
    if (step.do === 'append') append(step.message, step.anchor)
    else addAnchor(step.name, step.index ?? Math.round(step.place * messages.length), step.after)
  }
  return object([
    `"messages": [${messages.join(`,\n${INDENT}`)}]`,
    `"id": "${id}"`,
    bare ? null : '"content_map": {}',
    `"anchor_points": ${JSON.stringify(anchors.map(({ name, index }) => [name, index]))}`,
    `"message_sequence": ${messages.length}`,
    `"_mutation_counter": ${next}`,
    unknown,
    bare ? null : '"children": []',
    bare && ids[0] === null ? null : `"system_prompt_message_id": ${JSON.stringify(ids[0])}`,
    bare && ids[1] === null ? null : `"tool_definitions_message_id": ${JSON.stringify(ids[1])}`,
    anchorSequences ? `"_anchor_sequences": ${JSON.stringify(sequences)}` : null,
  ])
}

function object(fields) {
  return `{\n${INDENT}${fields.filter((field) => field !== null).join(`,\n${INDENT}`)}\n}`
}
