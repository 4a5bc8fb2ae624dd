const text = (said) => ({ type: 'input_text', text: said })
const user = (...content) => ({ type: 'message', role: 'user', content })
const said = (words, more) => ({ type: 'output_text', text: words, annotations: [], ...more })
const message = (content, more) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content,
  ...more,
})
const call = (more) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'f',
  arguments: '{}',
  status: 'completed',
  ...more,
})
const output = (given, more) => ({ type: 'function_call_output', call_id: 'call_1', output: given, ...more })
const png = 'data:image/png;base64,iVBORw0KGgo='
const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
const url = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }

export const openaiResponses = [
  [
    'a part of the user',
    (part) => ({ input: [user(text('q'), part)] }),
    [
      text('x'),
      { type: 'input_image', detail: 'auto', image_url: png },
      { type: 'input_image', detail: 'low', image_url: 'https://x.org/a.png' },
      { type: 'input_image', image_url: png },
      { type: 'input_image', detail: 'auto', file_id: 'file_1' },
      { type: 'input_file', file_id: 'file_1' },
      { type: 'input_file', file_url: 'https://x.org/a.pdf' },
      { type: 'input_file', file_url: 'https://x.org/a.docx' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
      { type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,YSxi' },
      { type: 'input_file', file_url: 'https://x.org/a', detail: 'high' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'not_yet_known' },
    ],
  ],
  [
    'an item of the output',
    (item) => ({ input: [user(text('q')), item, user(text('q2'))] }),
    [
      message([said('a')]),
      message([said('a'), said('b')]),
      message([said('a', { logprobs: [] })]),
      message([said('a', { annotations: [url] })]),
      message([said('a', { annotations: [{ type: 'file_citation', file_id: 'f', filename: 'n', index: 0 }] })]),
      message([said('a', { logprobs: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] })]),
      message([{ type: 'refusal', refusal: 'no' }]),
      message([said('a')], { status: 'incomplete' }),
      message([said('a')], { phase: 'commentary' }),
      message([]),
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: [said('a')] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
      { type: 'reasoning', summary: [], encrypted_content: 'e' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        status: 'completed',
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['q'], results: null },
      {
        type: 'code_interpreter_call',
        id: 'ci_1',
        status: 'completed',
        code: '1',
        container_id: 'c',
        outputs: [{ type: 'logs', logs: '1' }],
      },
      { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA' },
      { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] },
      { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'f', arguments: '{}', output: 'x' },
      { type: 'item_reference', id: 'msg_0' },
      { id: 'msg_0' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'e' },
      { type: 'not_yet_known', id: 'x_1', deep: { null: null } },
    ],
  ],
  [
    'an item and its answer',
    ([first, ...rest]) => ({ input: [user(text('q')), first, ...rest] }),
    [
      [call(), output('x')],
      [call({ id: undefined }), output('x')],
      [call({ status: 'incomplete' }), output('x')],
      [call({ namespace: 'n' }), output('x', { id: 'fco_1', status: 'completed' })],
      [call(), output([text('x')])],
      [call(), output([text('x'), { type: 'input_image', detail: 'auto', image_url: png }])],
      [call(), output([{ type: 'input_file', file_id: 'file_1' }])],
      [call(), output('')],
      [call({ id: 'fc_1' }), call({ id: 'fc_2', call_id: 'call_2' }), output('x'), output('y', { call_id: 'call_2' })],
      [{ type: 'reasoning', id: 'rs_1', summary: [] }, call(), output('x'), message([said('a')])],
      [
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'f', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'y' },
      ],
      [
        {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'call_1',
          action: { type: 'screenshot' },
          pending_safety_checks: [],
          status: 'completed',
        },
        { type: 'computer_call_output', call_id: 'call_1', output: { type: 'computer_screenshot', image_url: png } },
      ],
      [
        {
          type: 'local_shell_call',
          id: 'ls_1',
          call_id: 'call_1',
          action: { type: 'exec', command: ['ls'], env: {} },
          status: 'completed',
        },
        { type: 'local_shell_call_output', id: 'call_1', output: 'x' },
      ],
      [
        { type: 'shell_call', id: 'sh_1', call_id: 'call_1', action: { commands: ['ls'] } },
        {
          type: 'shell_call_output',
          call_id: 'call_1',
          output: [{ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        },
      ],
      [
        {
          type: 'apply_patch_call',
          id: 'ap_1',
          call_id: 'call_1',
          status: 'completed',
          operation: { type: 'delete_file', path: 'a' },
        },
        { type: 'apply_patch_call_output', call_id: 'call_1', status: 'completed', output: '' },
      ],
      [
        { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 's', name: 'f', arguments: '{}' },
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ],
      [
        { type: 'tool_search_call', id: 'ts_1', call_id: 'call_1', execution: 'client', arguments: {} },
        { type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: [] },
      ],
    ],
  ],
  [
    'a system message',
    (item) => ({ input: [item, user(text('q'))] }),
    [
      { role: 'system', content: 's' },
      { role: 'developer', content: 's' },
      { type: 'message', role: 'developer', content: [text('s')] },
      { type: 'message', role: 'system', content: [text('s'), text('t')], status: 'completed' },
      { role: 'developer', content: [text('s'), { type: 'not_yet_known' }] },
    ],
  ],
  [
    'a tool',
    (tool) => ({ input: [user(text('q'))], tools: [tool] }),
    [
      { type: 'function', name: 'f', parameters, strict: false },
      { type: 'function', name: 'f', parameters, strict: true, description: 'd' },
      { type: 'function', name: 'f', parameters },
      { type: 'function', name: 'f', parameters: null, strict: null },
      { type: 'function', name: 'f', parameters, strict: true, defer_loading: true },
      { type: 'web_search', filters: { allowed_domains: ['x.org'] }, search_context_size: 'low' },
      { type: 'web_search_preview' },
      { type: 'file_search', vector_store_ids: ['vs_1'], max_num_results: 2 },
      { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'browser' },
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'image_generation', quality: 'low' },
      { type: 'local_shell' },
      { type: 'shell' },
      { type: 'apply_patch' },
      { type: 'custom', name: 'f', format: { type: 'text' } },
      { type: 'mcp', server_label: 's', server_url: 'https://x.org', require_approval: 'never', allowed_tools: ['f'] },
      { type: 'tool_search' },
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters }] },
    ],
  ],
  [
    'a request',
    (request) => request,
    [
      { instructions: 's', input: [user(text('q'))] },
      {
        instructions: 's',
        input: [
          { role: 'developer', content: 'd' },
          { role: 'user', content: 'q' },
        ],
      },
      {
        input: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      { input: [user(text('q')), message([said('a')]), call(), message([said('b')], { id: 'msg_2' }), output('x')] },
    ],
  ],
]
