// Files of sessions, created with the package's Node build.
import {
  ContentPart,
  MemoryStorage,
  Message,
  Session,
  SystemPromptMessage,
  ToolDefinitionsMessage,
} from '../../../dist/index.mjs'

/** A script that would run if the page treated text as markup. */
export const HOSTILE = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>&lt;b&gt;'

/** A 1×1 PNG. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** An agent's conversation: special messages first, then user turns with thinking, tool calls and results. */
export function createSession(messageCount) {
  const session = Session.create('', {
    storage: new MemoryStorage(),
    systemPromptMessage: SystemPromptMessage.create('You are a careful assistant.'),
    toolDefinitionsMessage: ToolDefinitionsMessage.create([
      {
        name: 'read_file',
        description: 'Reads a file.',
        parameters: { type: 'object', properties: { path: { type: 'string' } } },
      },
    ]),
  })
  const context = session.activeContext
  for (let turn = 0; context.messageCount < messageCount; turn++) {
    for (const message of turnMessages(turn)) {
      if (context.messageCount < messageCount) context.append(message)
    }
  }
  return session
}

function turnMessages(turn) {
  const call = `call_${turn}`
  const lines = Array.from({ length: 5 + (turn % 40) }, (_, line) => `${line}: ${'word '.repeat(turn % 7)}`)
  return [
    Message.create('user', [ContentPart.text(`Question ${turn}: 何が変わりましたか。 מה השתנה?`)]),
    Message.create('assistant', [
      ContentPart.thinking(`Thought ${turn}.`),
      ContentPart.toolUse(call, 'read_file', { path: `src/file-${turn}.rs` }),
    ]),
    Message.create('tool', [ContentPart.toolResult(call, lines.join('\n'))]),
    Message.create('assistant', [ContentPart.text(`Answer ${turn}.`)]),
  ]
}

/** The files of a session as [{ name, mimeType, buffer }], Playwright's form of picked files. */
export async function filesOf(session) {
  await session.save()
  const names = (await session.storage.list(session.sessionDir)).sort()
  return Promise.all(
    names.map(async (name) => {
      const data = await session.storage.read(`${session.sessionDir}/${name}`)
      return { name, mimeType: 'application/json', buffer: Buffer.from(data) }
    }),
  )
}

/** The same files with the text of one of them changed. */
export function changeFile(files, name, change) {
  return files.map((file) =>
    file.name === name ? { ...file, buffer: Buffer.from(change(file.buffer.toString('utf8'))) } : file,
  )
}
