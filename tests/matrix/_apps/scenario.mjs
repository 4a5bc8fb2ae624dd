/**
 * What every environment must be able to do: a token window over a conversation, a save and a load.
 *
 * @returns {Promise<string>} What the loaded session has; the same everywhere.
 */
export async function scenario({ Session }, options = {}) {
  const session = Session.create('sessions', options)
  for (let turn = 1; turn <= 20; turn++) {
    session.activeContext.append({
      role: 'user',
      content: [{ type: 'text', text: `Question ${turn}: why is the sky blue?` }],
    })
    session.activeContext.append({
      role: 'assistant',
      content: [{ type: 'text', text: 'Because of Rayleigh scattering.' }],
    })
  }
  session.rollingTokenWindow(120, 'o200k_base', { boundary: 'turn' })
  await session.save()
  const { activeContext } = await Session.load('sessions', session.uuid, { storage: session.storage })
  return `${activeContext.messageCount} messages with ${activeContext.totalTokenCount('o200k_base')} tokens`
}
