/**
 * Creates, changes and saves a session without randomness, with the given package. Runs in Node and, as text, in a browser, so
 * it must not use anything from outside.
 *
 * @returns {Promise<Record<string, number[]>>} The bytes of each file by its path.
 */
export async function saveFixedSession({ Context, MemoryStorage, Session }) {
  const uuid = '20260102-00000000-0000-4000-8000-000000000001'
  const contextId = '20260102-00000000-0000-4000-8000-000000000002'
  const storage = new MemoryStorage()
  // Numbers and keys that JavaScript objects would change.
  const text = `{"uuid": "${uuid}", "active_context_id": null, "unknown": [9223372036854775808, 1.0, 1e16, -0.0],
    "__proto__": {"polluted": true}, "state_data": {"ключ": "значение"}}`
  await storage.write(`parent/${uuid}/session.json`, new TextEncoder().encode(text))
  const session = await Session.load('parent', uuid, { storage })
  const context = Context.fromDict({
    id: contextId,
    messages: [],
    content_map: {},
    anchor_points: [
      ['system_prompt', 0],
      ['tools', 0],
      ['messages', 0],
    ],
    message_sequence: 0,
    _mutation_counter: 3,
    children: [],
  })
  context.append({
    id: '00000000-0000-4000-8000-000000000003',
    role: 'user',
    creation_timestamp: '2026-01-02T03:04:05.678901',
    content: [{ type: 'text', text: 'Grüße, 世界, 🦀, שלום, \u0000\u007f\u2028 "quoted" \\ \ud800' }],
    metadata: JSON.parse('{"__proto__": {"polluted": true}, "10": 1e21, "2": 0.1}'),
  })
  session.setActiveContext(context)
  session.autoApproveTools = ['read_file']
  session.state.create('größe', '10 µm')
  session.rawDict = { ...session.rawDict, is_active: true }
  await session.save()
  const files = {}
  for (const name of (await storage.list(session.sessionDir)).sort()) {
    const path = `${session.sessionDir}/${name}`
    files[path] = [...(await storage.read(path))]
  }
  return files
}
