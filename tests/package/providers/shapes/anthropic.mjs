const user = (...content) => ({ role: 'user', content })
const assistant = (...content) => ({ role: 'assistant', content })
const text = (said) => ({ type: 'text', text: said })
const cache = { type: 'ephemeral' }
const hour = { type: 'ephemeral', ttl: '1h' }
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const search = { type: 'search_result', source: 'https://x.org', title: 'X', content: [text('found')] }
const citation = (type, more) => ({ type, cited_text: 'x', document_index: 0, document_title: null, ...more })
const server = (name, id = 'srvtoolu_1') => ({ type: 'server_tool_use', id, name, input: { q: 1 } })
const answer = (type, content, id = 'srvtoolu_1') => ({ type, tool_use_id: id, content })
const use = (more) => ({ type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 }, ...more })
const result = (more) => ({ type: 'tool_result', tool_use_id: 'toolu_1', ...more })
const schema = { type: 'object', properties: { a: { type: 'number' } } }

export const anthropic = [
  [
    'a block of the user',
    (block) => ({ messages: [user(text('q'), block)] }),
    [
      text('x'),
      { ...text('x'), cache_control: cache },
      { ...text('x'), cache_control: hour },
      { ...text('x'), citations: [citation('char_location', { start_char_index: 0, end_char_index: 1 })] },
      { type: 'image', source: png },
      { type: 'image', source: png, cache_control: cache },
      { type: 'image', source: { type: 'url', url: 'https://x.org/a.png' } },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: pdf },
      { type: 'document', source: pdf, title: 'T', context: 'C', citations: { enabled: true }, cache_control: cache },
      { type: 'document', source: { type: 'url', url: 'https://x.org/a.pdf' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
      { type: 'document', source: { type: 'content', content: [text('x'), { type: 'image', source: png }] } },
      { type: 'document', source: { type: 'content', content: 'x' }, citations: { enabled: true } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' }, title: 'T' },
      search,
      { ...search, citations: { enabled: true }, cache_control: cache },
      { type: 'container_upload', file_id: 'file_1' },
      { type: 'not_yet_known', value: [1, { deep: null }] },
    ],
  ],
  [
    'a block of the assistant',
    (block) => ({ messages: [user(text('q')), assistant(block, text('a'))] }),
    [
      text('x'),
      { ...text('x'), citations: [citation('page_location', { start_page_number: 1, end_page_number: 2 })] },
      { ...text('x'), citations: [citation('content_block_location', { start_block_index: 0, end_block_index: 1 })] },
      {
        ...text('x'),
        citations: [
          { type: 'web_search_result_location', url: 'u', title: 't', encrypted_index: 'e', cited_text: 'c' },
        ],
      },
      {
        ...text('x'),
        citations: [
          {
            type: 'search_result_location',
            cited_text: 'c',
            search_result_index: 0,
            source: 's',
            title: 't',
            start_block_index: 0,
            end_block_index: 1,
          },
        ],
      },
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      server('web_search'),
      server('code_execution'),
      { ...server('web_fetch'), caller: { type: 'direct' } },
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'f', server_name: 's', input: {} },
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'f', server_name: 's', input: {}, cache_control: cache },
      { type: 'compaction', content: 'summary' },
      { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
      { type: 'not_yet_known' },
    ],
  ],
  [
    'a server tool and its result',
    ([call, ...rest]) => ({
      messages: [user(text('q')), assistant(text('I look.'), call, ...rest, text('a')), user(text('q2'))],
    }),
    [
      [
        server('web_search'),
        answer('web_search_tool_result', [
          { type: 'web_search_result', url: 'u', title: 't', encrypted_content: 'e', page_age: null },
        ]),
      ],
      [
        server('web_search'),
        answer('web_search_tool_result', { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }),
      ],
      [
        server('web_fetch'),
        answer('web_fetch_tool_result', {
          type: 'web_fetch_result',
          url: 'u',
          content: { type: 'document', source: pdf },
          retrieved_at: null,
        }),
      ],
      [
        server('code_execution'),
        answer('code_execution_tool_result', {
          type: 'code_execution_result',
          stdout: '1',
          stderr: '',
          return_code: 0,
          content: [],
        }),
      ],
      [
        server('bash_code_execution'),
        answer('bash_code_execution_tool_result', {
          type: 'bash_code_execution_result',
          stdout: '1',
          stderr: '',
          return_code: 0,
          content: [],
        }),
      ],
      [
        server('text_editor_code_execution'),
        answer('text_editor_code_execution_tool_result', {
          type: 'text_editor_code_execution_create_result',
          is_file_update: false,
        }),
      ],
      [
        server('tool_search_tool_regex'),
        answer('tool_search_tool_result', {
          type: 'tool_search_tool_search_result',
          tool_references: [{ type: 'tool_reference', tool_name: 'f' }],
        }),
      ],
      [
        { type: 'mcp_tool_use', id: 'srvtoolu_1', name: 'f', server_name: 's', input: {} },
        { ...answer('mcp_tool_result', [text('x')]), is_error: false },
      ],
      [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        server('web_search'),
        { ...answer('web_search_tool_result', []), caller: { type: 'direct' } },
      ],
    ],
  ],
  [
    'a call',
    (call) => ({ messages: [user(text('q')), assistant(call), user(result({ content: 'x' }))] }),
    [
      use(),
      use({ cache_control: cache }),
      use({ caller: { type: 'direct' } }),
      use({ caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_9' } }),
      use({ input: {} }),
      use({ input: { deep: { list: [1, null, 'x', 1.5e300], 'odd key': true } } }),
      use({ not_yet_known: 1 }),
    ],
  ],
  [
    'a result',
    (given) => ({ messages: [user(text('q')), assistant(use()), user(given)] }),
    [
      result({ content: 'x' }),
      result({}),
      result({ content: [] }),
      result({ content: [text('x')] }),
      result({ content: [text('x'), text('y')] }),
      result({ content: 'no', is_error: true }),
      result({ content: 'x', is_error: false }),
      result({ content: 'x', cache_control: cache }),
      result({ content: [{ ...text('x'), cache_control: cache }] }),
      result({ content: [text('x'), { type: 'image', source: png }] }),
      result({ content: [{ type: 'image', source: png, cache_control: hour }] }),
      result({ content: [{ type: 'document', source: pdf, title: 'T' }] }),
      result({ content: [search] }),
      result({ content: [{ type: 'tool_reference', tool_name: 'f' }] }),
      result({ content: [text('x'), { type: 'not_yet_known' }] }),
    ],
  ],
  [
    'a system prompt',
    (system) => ({ system, messages: [user(text('q'))] }),
    ['x', [text('x')], [text('x'), { ...text('y'), cache_control: hour }], [{ ...text('x'), citations: [] }]],
  ],
  [
    'a tool',
    (tool) => ({ messages: [user(text('q'))], tools: [{ name: 'g', input_schema: schema }, tool] }),
    [
      { name: 'f', input_schema: schema },
      { name: 'f', description: 'd', input_schema: schema, cache_control: cache },
      { type: 'custom', name: 'f', input_schema: schema },
      { name: 'f', input_schema: schema, strict: true },
      { name: 'f', input_schema: schema, strict: false },
      { name: 'f', input_schema: schema, defer_loading: true },
      { name: 'f', input_schema: schema, input_examples: [{ a: 1 }] },
      { name: 'f', input_schema: schema, allowed_callers: ['direct', 'code_execution_20250825'] },
      { name: 'f', input_schema: schema, eager_input_streaming: true },
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        user_location: { type: 'approximate', city: 'B' },
      },
      { type: 'web_fetch_20250910', name: 'web_fetch', citations: { enabled: true } },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 10 },
      { type: 'code_execution_20250825', name: 'code_execution' },
      { type: 'computer_20250124', name: 'computer', display_width_px: 1, display_height_px: 1 },
      { type: 'memory_20250818', name: 'memory' },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { type: 'mcp_toolset', mcp_server_name: 's', default_config: { enabled: true } },
    ],
  ],
  [
    'messages',
    (messages) => ({ messages }),
    [
      [{ role: 'user', content: 'q' }],
      [user(text('q')), user(text('q2'))],
      [user(text('q')), assistant(text('a')), { role: 'system', content: 'Be brief.' }, user(text('q2'))],
      [
        user(text('q')),
        assistant(use(), use({ id: 'toolu_2' })),
        user(result({ content: 'x' })),
        user(result({ tool_use_id: 'toolu_2', content: 'y' })),
      ],
      [
        user(text('q')),
        assistant(text('a'), use()),
        user(result({ content: 'x' }), text('and'), { type: 'image', source: png }),
      ],
      [user(text('q')), assistant(server('web_search')), assistant(answer('web_search_tool_result', []), text('a'))],
      [
        user(text('q')),
        { role: 'assistant', content: 'a' },
        user(text('q2'), { type: 'container_upload', file_id: 'f' }),
      ],
      [user(text('q')), { ...assistant(text('a')), not_yet_known: true }],
    ],
  ],
]
