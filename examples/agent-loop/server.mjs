// A stand-in for four providers: it rejects requests that break their pairing rules, and otherwise follows a script.
import { createServer } from 'node:http'
import { formats } from './formats.mjs'

/** Starts it; resolves to `{ url, close }`. */
export function startServer() {
  const model = new Model()
  const server = createServer(async (request, response) => {
    const answer = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const format = formats.find(({ path }) => path.test(request.url))
    if (format === undefined) return answer(404, { error: { message: `unknown path ${request.url}` } })
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    const fault = format.fault(body)
    if (fault !== null) return answer(400, { error: { message: fault } })
    return answer(200, format.answer(model.reply(format.prompt(body))))
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({ url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() })
    })
  })
}

/** Answers each task with as many rounds of calls as it asks for, then with a text. */
class Model {
  #calls = 0
  #rounds = 0

  /** @param prompt The text of the last message if it is a user message, else null. */
  reply(prompt) {
    if (prompt !== null) this.#rounds = Number(/in (\d+) rounds/.exec(prompt)?.[1] ?? 0)
    if (this.#rounds === 0) return { text: 'Done: everything is in its box.', calls: [] }
    this.#rounds--
    const calls = Array.from({ length: 1 + (this.#calls % 3) }, () => {
      this.#calls++
      return { id: `call_${this.#calls}`, name: 'look', args: { box: this.#calls } }
    })
    return { text: calls.length === 2 ? 'I look into two boxes.' : null, calls }
  }
}
