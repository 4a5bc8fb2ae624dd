/**
 * What every environment must be able to do: a token window over a conversation, a save, a load, and the
 * request to a provider.
 *
 * @returns {Promise<string>} What the loaded session has; the same everywhere.
 */
export async function scenario({ Session, toMessages }, options = {}) {
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
  const { messages } = toMessages(activeContext, 'anthropic')
  return `${messages.length} messages with ${activeContext.totalTokenCount('o200k_base')} tokens`
}
