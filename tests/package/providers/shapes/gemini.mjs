const user = (...parts) => ({ role: 'user', parts })
const model = (...parts) => ({ role: 'model', parts })
const text = { text: 'q' }
const call = (more, part) => ({ functionCall: { name: 'f', args: { a: 1 }, ...more }, ...part })
const response = (given, more, part) => ({ functionResponse: { name: 'f', response: given, ...more }, ...part })
const blob = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const file = { mimeType: 'video/mp4', fileUri: 'https://x.org/a.mp4' }
const parameters = { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true }, type: { type: 'NUMBER' } } }

export const gemini = [
  [
    'a part of the user',
    (part) => ({ contents: [user(text, part)] }),
    [
      { text: 'x' },
      { inlineData: blob },
      { inlineData: { ...blob, displayName: 'a.png' } },
      { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
      {
        inlineData: { mimeType: 'video/mp4', data: 'AAAA' },
        videoMetadata: { startOffset: '1s', endOffset: '2s', fps: 1 },
      },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } },
      { inlineData: { mimeType: 'text/csv', data: 'YSxi' } },
      { fileData: file },
      { fileData: { ...file, displayName: 'a' } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=AAAAAAAAAAA' } },
      { fileData: { fileUri: 'https://x.org/files/1' } },
      { fileData: file, videoMetadata: { fps: 2 } },
      { inlineData: blob, mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } },
      { text: 'x', partMetadata: { a: 1 } },
      { notYetKnown: { a: 1 } },
    ],
  ],
  [
    'a part of the model',
    (part) => ({ contents: [user(text), model(part, { text: 'a' }), user(text)] }),
    [
      { text: 'x' },
      { text: 'x', thoughtSignature: 's' },
      { text: '', thoughtSignature: 's' },
      { text: 'hm', thought: true },
      { text: 'hm', thought: true, thoughtSignature: 's' },
      { inlineData: blob },
      { inlineData: blob, thoughtSignature: 's' },
      { executableCode: { language: 'PYTHON', code: '1' } },
      { executableCode: { language: 'PYTHON', code: '1', id: 'c1' }, thoughtSignature: 's' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: { q: 1 } } },
      { toolResponse: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', response: { r: 1 } } },
      { notYetKnown: 1 },
    ],
  ],
  [
    'a call',
    (part) => ({
      contents: [
        user(text),
        model(part),
        user(response({ output: 'x' }, part.functionCall.id && { id: part.functionCall.id })),
      ],
    }),
    [
      call(),
      call({ id: 'c1' }),
      call({ args: undefined }),
      call({ args: {} }),
      call({ id: 'c1' }, { thoughtSignature: 's' }),
      call({ args: { snake_key: { deep_key: null } } }),
      call({ willContinue: false, partialArgs: [] }),
    ],
  ],
  [
    'a response',
    (part) => ({
      contents: [user(text), model(call(part.functionResponse.id && { id: part.functionResponse.id })), user(part)],
    }),
    [
      response({ output: 'x' }),
      response({ error: 'no' }),
      response({ output: { temp: 20 } }),
      response({ error: { code: 404 } }),
      response({ output: null }),
      response({ temperature: 15, unit: 'C' }),
      response({}),
      response({ output: 'x', more: 1 }),
      response({ output: 'x' }, { id: 'c1' }),
      response({ output: 'x' }, { willContinue: true, scheduling: 'SILENT' }),
      response({ output: 'x' }, { parts: [{ inlineData: blob }] }),
      response({ output: 'x' }, { parts: [{ inlineData: { ...blob, displayName: 'a' } }, { fileData: file }] }),
      response({ output: 'x' }, {}, { thoughtSignature: 's' }),
    ],
  ],
  [
    'an instruction',
    (systemInstruction) => ({ systemInstruction, contents: [user(text)] }),
    [
      { parts: [text] },
      { parts: [text, { text: 't' }] },
      { role: 'user', parts: [text] },
      { role: 'system', parts: [text] },
    ],
  ],
  [
    'a tool',
    (tool) => ({ contents: [user(text)], tools: [tool] }),
    [
      { functionDeclarations: [{ name: 'f' }] },
      { functionDeclarations: [{ name: 'f', description: 'd', parameters }] },
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }, { name: 'g' }] },
      { functionDeclarations: [{ name: 'f', parameters, response: { type: 'STRING' } }] },
      { functionDeclarations: [{ name: 'f', behavior: 'NON_BLOCKING', responseJsonSchema: { type: 'string' } }] },
      { googleSearch: {} },
      { googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } },
      { codeExecution: {} },
      { urlContext: {} },
      { googleMaps: { enableWidget: true } },
      { fileSearch: { fileSearchStoreNames: ['s'] } },
      { computerUse: { environment: 'ENVIRONMENT_BROWSER' } },
      { functionDeclarations: [{ name: 'f' }], googleSearch: {} },
    ],
  ],
  [
    'contents',
    (contents) => ({ contents }),
    [
      [{ parts: [text] }],
      [user(text), { role: 'model' }, user(text)],
      [user(text), user(text)],
      [
        user(text),
        model(call(), call({ name: 'g' })),
        user(response({ output: 'x' })),
        user({ functionResponse: { name: 'g', response: { output: 'y' } } }),
      ],
      [user(text), model(call()), { role: 'function', parts: [response({ output: 'x' })] }],
      [
        user(text),
        model(
          { executableCode: { language: 'PYTHON', code: '1' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          text,
        ),
      ],
      [user(text), { ...model(text), notYetKnown: 1 }],
    ],
  ],
]
