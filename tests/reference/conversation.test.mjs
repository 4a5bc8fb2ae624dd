// A conversation of a provider goes through a save, the Python package's load and save, and a load, and comes back to the
// provider as it was.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { available, needsReference } from './oracle.mjs'
import { fromMessages, Session, toMessages } from './support/package.mjs'

const PROGRAM = `
import contextlib, io, sys
with contextlib.redirect_stdout(io.StringIO()):
    from peteos.conversation.session import Session
    from peteos.conversation.message import Message
session = Session.load(sys.argv[1], sys.argv[2])
context = session.active_context
tokens = [message.count_tokens() for message in context.messages]
context.append(Message({"role": "user", "content": [{"type": "text", "text": "From Python."}]}))
session.save()
print(sum(tokens))
`

const REQUEST = {
  system: [{ type: 'text', text: 'Cite what you find.', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' },
          title: 'Terms',
          citations: { enabled: true },
        },
        { type: 'text', text: 'How long can I return it, and what do others offer?' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'First the terms, then a search.', signature: 'EqQBCkYIBRgC' },
        { type: 'server_tool_use', id: 'srvtoolu_01', name: 'web_search', input: { query: 'return periods' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_01',
          content: [
            {
              type: 'web_search_result',
              url: 'https://example.com/returns',
              title: 'Returns – überall',
              encrypted_content: 'EqgfCioIARgB',
              page_age: null,
            },
          ],
        },
        {
          type: 'text',
          text: 'You have 30 days; others offer 14.',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://example.com/returns',
              title: 'Returns – überall',
              encrypted_index: 'Eo8BCioI',
              cited_text: '14 days',
            },
          ],
        },
      ],
    },
  ],
  tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }],
}

test(
  'a recorded conversation with a web search, thinking and a PDF survives the reference',
  needsReference,
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'peteos-session-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const session = Session.create(directory)
    session.setActiveContext(fromMessages(REQUEST, 'anthropic'))
    const ours = session.activeContext.totalTokenCount()
    await session.save()
    const { python, env } = available
    const theirs = execFileSync(python, ['-X', 'utf8', '-c', PROGRAM, directory, session.uuid], {
      env,
      encoding: 'utf8',
    })
    assert.equal(Number(theirs), ours, 'what is kept beside the content costs no tokens')
    const again = await Session.load(directory, session.uuid)
    const said = { role: 'user', content: [{ type: 'text', text: 'From Python.' }] }
    const expected = { ...REQUEST, messages: [...REQUEST.messages, said] }
    assert.deepEqual(toMessages(again.activeContext, 'anthropic'), expected)
  },
)
