// Sessions whose context file has any text.

/** Stores a session in the directory `a` with a context of these fields, given as JSON text; resolves to its uuid. */
export async function sessionFile(storage, fields) {
  const uuid = crypto.randomUUID()
  const id = crypto.randomUUID()
  const bytes = (text) => new TextEncoder().encode(text)
  await storage.write(`a/${uuid}/${id}.json`, bytes(`{"id":"${id}",${fields}}`))
  await storage.write(`a/${uuid}/session.json`, bytes(JSON.stringify({ uuid, active_context_id: id })))
  return uuid
}
