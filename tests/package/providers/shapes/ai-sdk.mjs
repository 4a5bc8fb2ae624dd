const user = (content, more) => ({ role: 'user', content, ...more })
const text = (said, more) => ({ type: 'text', text: said, ...more })
const options = { acme: { key: 1 } }
const call = (more) => ({ type: 'tool-call', toolCallId: 'c1', toolName: 'f', input: { a: 1 }, ...more })
const result = (output, more) => ({ type: 'tool-result', toolCallId: 'c1', toolName: 'f', output, ...more })
const png = 'iVBORw0KGgo='
const inputSchema = { type: 'object', properties: { a: { type: 'number' } } }
const tool = (content) => ({ role: 'tool', content })

export const aiSdk = [
  [
    'a part of the user',
    (part) => ({ messages: [user([text('q'), part])] }),
    [
      text('x'),
      text('x', { providerOptions: options }),
      { type: 'image', image: png },
      { type: 'image', image: png, mediaType: 'image/png' },
      { type: 'image', image: 'https://x.org/a.png' },
      { type: 'image', image: 'https://x.org/a', mediaType: 'image/*', providerOptions: options },
      { type: 'file', data: 'JVBERg==', mediaType: 'application/pdf' },
      { type: 'file', data: 'JVBERg==', mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', data: 'https://x.org/a.mp3', mediaType: 'audio/mpeg' },
      { type: 'file', data: 'YSxi', mediaType: 'text/csv' },
      { type: 'file', data: { type: 'url', url: 'https://x.org/a.png' }, mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: png }, mediaType: 'image' },
      { type: 'file', data: { type: 'text', text: 'x' }, mediaType: 'text/plain' },
      { type: 'file', data: { type: 'reference', reference: { openai: 'file_1' } }, mediaType: 'application/pdf' },
      { type: 'not-yet-known', value: 1 },
    ],
  ],
  [
    'a part of the assistant',
    (part) => ({ messages: [user('q'), { role: 'assistant', content: [part, text('a')] }, user('q2')] }),
    [
      text('x', { providerOptions: options }),
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
      { type: 'reasoning-file', data: png, mediaType: 'image/png' },
      { type: 'custom', kind: 'acme.block', providerOptions: options },
      { type: 'file', data: png, mediaType: 'image/png' },
      call({ providerExecuted: true }),
      { type: 'not-yet-known' },
    ],
  ],
  [
    'a call',
    (part) => ({
      messages: [user('q'), { role: 'assistant', content: [part] }, tool([result({ type: 'text', value: 'x' })])],
    }),
    [
      call(),
      call({ input: {} }),
      call({ input: 'text' }),
      call({ input: [1] }),
      call({ providerOptions: options }),
      call({ providerExecuted: false }),
      call({ title: 'T' }),
    ],
  ],
  [
    'a result',
    (part) => ({ messages: [user('q'), { role: 'assistant', content: [call()] }, tool([part])] }),
    [
      result({ type: 'text', value: 'x' }),
      result({ type: 'text', value: 'x', providerOptions: options }),
      result({ type: 'text', value: 'x' }, { providerOptions: options }),
      result({ type: 'json', value: { a: [null] } }),
      result({ type: 'json', value: null }),
      result({ type: 'error-text', value: 'no' }),
      result({ type: 'error-json', value: { code: 1 } }),
      result({ type: 'execution-denied', reason: 'no' }),
      result({ type: 'execution-denied' }),
      result({ type: 'content', value: [text('x')] }),
      result({ type: 'content', value: [text('x'), { type: 'media', data: png, mediaType: 'image/png' }] }),
      result({ type: 'content', value: [{ type: 'image-data', data: png, mediaType: 'image/png' }] }),
      result({ type: 'content', value: [{ type: 'image-url', url: 'https://x.org/a.png' }] }),
      result({
        type: 'content',
        value: [{ type: 'file-data', data: 'JVBERg==', mediaType: 'application/pdf', filename: 'a.pdf' }],
      }),
      result({ type: 'content', value: [{ type: 'file-url', url: 'https://x.org/a.pdf' }] }),
      result({ type: 'content', value: [{ type: 'file-id', fileId: 'file_1' }] }),
      result({ type: 'content', value: [{ type: 'image-file-id', fileId: { openai: 'file_1' } }] }),
      result({ type: 'content', value: [{ type: 'file', data: { type: 'data', data: png }, mediaType: 'image/png' }] }),
      result({ type: 'content', value: [{ type: 'custom', providerOptions: options }] }),
      result({ type: 'not-yet-known', value: 1 }),
    ],
  ],
  ['a system prompt', (system) => ({ system, messages: [user('q')] }), ['s']],
  [
    'a tool',
    (given) => ({ messages: [user('q')], tools: { f: given } }),
    [
      { inputSchema },
      { description: 'd', inputSchema },
      { type: 'function', inputSchema },
      { type: 'dynamic', inputSchema },
      { inputSchema, providerOptions: options },
      { inputSchema, strict: true, title: 'T', inputExamples: [{ input: { a: 1 } }] },
      { inputSchema, needsApproval: true },
      { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
      { type: 'provider', id: 'anthropic.code_execution', name: 'code_execution', args: {}, inputSchema },
    ],
  ],
  [
    'messages',
    (messages) => ({ messages }),
    [
      [user('q')],
      [{ role: 'system', content: 's' }, user('q')],
      [{ role: 'system', content: 's', providerOptions: options }, user('q'), { role: 'system', content: 't' }],
      [user('q', { providerOptions: options })],
      [user('q'), { role: 'assistant', content: 'a', providerOptions: options }],
      [
        user('q'),
        { role: 'assistant', content: [call(), call({ toolCallId: 'c2' })] },
        tool([result({ type: 'text', value: 'x' })]),
        tool([result({ type: 'text', value: 'y' }, { toolCallId: 'c2' })]),
      ],
      [
        user('q'),
        {
          role: 'assistant',
          content: [call({ providerExecuted: true }), result({ type: 'json', value: {} }), text('a')],
        },
      ],
      [
        user('q'),
        { role: 'assistant', content: [call(), { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' }] },
        tool([{ type: 'tool-approval-response', approvalId: 'a1', approved: true }]),
      ],
      [
        user('q'),
        { role: 'assistant', content: [call(), { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' }] },
        tool([{ type: 'tool-approval-response', approvalId: 'a1', approved: false, reason: 'no' }]),
      ],
    ],
  ],
]
