// The Python package peteos in a process of its own (oracle.py), asked and answered in JSON.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { reference } from '../../scripts/setup/reference.mjs'

const script = fileURLToPath(new URL('oracle.py', import.meta.url))

/** How to run the reference, or null where it is not to be had; in CI that is an error. */
export const available = await reference()
if (available === null && process.env.CI === 'true') {
  throw new Error('in CI the comparison with the Python reference has to run, and it is not available')
}

/** For `test(name, skip, …)`: leaves tests out, saying why, where the reference is not to be had. */
export const needsReference = { skip: available === null && 'Python or its package index is out of reach' }

/** A running oracle. Questions are answered in the order in which they are asked; several may be under way. */
export class Oracle {
  #child
  #waiting = []
  #received = ''
  #errors = ''
  #ended = null
  #worlds = 0

  /** @param options `asIs`: with the faults of the reference, which are repaired otherwise. */
  constructor({ asIs = false } = {}) {
    const { python, env } = available
    this.#child = spawn(python, ['-X', 'utf8', script, ...(asIs ? ['as-is'] : [])], { env })
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => this.#take(chunk))
    this.#child.stderr.setEncoding('utf8').on('data', (chunk) => (this.#errors = (this.#errors + chunk).slice(-4000)))
    this.#child.stdin.on('error', () => {}) // its end is told by 'close'
    this.#child.on('error', (error) => this.#end(error.message))
    this.#child.on('close', (code, signal) => this.#end(`ended with ${signal ?? code}`))
  }

  /** Asks, and resolves to the answer; an error of oracle.py itself rejects. */
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

  /** A session to be worked with step by step. */
  async open(start = {}) {
    const world = ++this.#worlds
    await this.ask({ do: 'open', world, start })
    return {
      /** Does a step; resolves to its result, which has `error` where it failed. */
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
