// Stand-ins for the SDKs of the providers: each sends a request, and returns the messages of the answer or the error.
import { fromMessages } from 'peteos-session'

const MODEL = 'stand-in'

/** By provider: `(server, fields) => Promise<{ messages } | { error }>`. */
export const clients = {
  'openai-chat': async (server, fields) => {
    const answer = await post(`${server}/v1/chat/completions`, { model: MODEL, ...fields })
    return answer.error ?? taken([answer.choices[0].message], 'openai-chat')
  },
  'openai-responses': async (server, fields) => {
    const answer = await post(`${server}/v1/responses`, { model: MODEL, store: false, ...fields })
    return answer.error ?? taken(answer.output, 'openai-responses')
  },
  anthropic: async (server, fields) => {
    const answer = await post(`${server}/v1/messages`, { model: MODEL, max_tokens: 1000, ...fields })
    return answer.error ?? taken([{ role: 'assistant', content: answer.content }], 'anthropic')
  },
  gemini: async (server, fields) => {
    const answer = await post(`${server}/v1beta/models/${MODEL}:generateContent`, fields)
    return answer.error ?? taken([answer.candidates[0].content], 'gemini')
  },
}

async function post(url, body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  return response.ok
    ? { ...answer, error: undefined }
    : { error: { error: `${response.status} ${answer.error.message}` } }
}

function taken(value, provider) {
  return { messages: fromMessages(value, provider).messages }
}
