// The Python package peteos in a process of its own (oracle.py), with questions and answers in JSON.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { reference } from '../../scripts/setup/reference.mjs'

const script = fileURLToPath(new URL('oracle.py', import.meta.url))

/** How to run the reference, or null if it is not available; in CI that is an error. */
export const available = await reference()
if (available === null && process.env.CI === 'true') {
  throw new Error('the Python reference is not available, and in CI the comparison with it must run')
}

/** Options for `test(name, options, …)` that skip a test, with the reason, if the reference is not available. */
export const needsReference = { skip: available === null && 'Python or its package index is not available' }

/** A running oracle. It answers questions in order; several may be pending. */
export class Oracle {
  #child
  #waiting = []
  #received = ''
  #errors = ''
  #ended = null
  #worlds = 0

  /** @param options `asIs`: keeps the faults of the reference, which are patched by default. */
  constructor({ asIs = false } = {}) {
    const { python, env } = available
    this.#child = spawn(python, ['-X', 'utf8', script, ...(asIs ? ['as-is'] : [])], { env })
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => this.#take(chunk))
    this.#child.stderr.setEncoding('utf8').on('data', (chunk) => (this.#errors = (this.#errors + chunk).slice(-4000)))
    this.#child.stdin.on('error', () => {}) // its end is told by 'close'
    this.#child.on('error', (error) => this.#end(error.message))
    this.#child.on('close', (code, signal) => this.#end(`ended with ${signal ?? code}`))
  }

  /** Asks a question and resolves to the answer; rejects with an error of oracle.py itself. */
  ask(question) {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended)
      this.#waiting.push({ question, resolve, reject })
      this.#child.stdin.write(`${JSON.stringify(question)}\n`)
    })
  }

  /** The answers to the steps of a program, each `{ result, active, dumps }`. */
  async run(start, steps) {
    return (await this.ask({ do: 'run', start, steps })).steps
  }

  /** A session for single steps. */
  async open(start = {}) {
    const world = ++this.#worlds
    await this.ask({ do: 'open', world, start })
    return {
      /** Runs a step; resolves to its result, which has `error` if it failed. */
      step: async (step) => (await this.ask({ do: 'step', world, step })).result,
      close: () => this.ask({ do: 'close', world }),
    }
  }

  async close() {
    this.#child.stdin.end()
    if (!this.#ended) await new Promise((resolve) => this.#child.once('close', resolve))
  }

  #take(chunk) {
    const lines = (this.#received + chunk).split('\n')
    this.#received = lines.pop()
    for (const line of lines) {
      const { question, resolve, reject } = this.#waiting.shift()
      const answer = JSON.parse(line)
      if (answer.error === undefined) resolve(answer)
      else reject(new Error(`${answer.error}: ${answer.message} (asked to ${question.do})`))
    }
  }

  #end(how) {
    this.#ended ??= new Error(`the oracle ${how}\n${this.#errors}`)
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
  }
}
