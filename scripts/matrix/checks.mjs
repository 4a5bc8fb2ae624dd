// Runs the checks of the matrix and counts them.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../setup/steps.mjs'

export class Checks {
  #expected
  #passed = []
  #failed = []

  /** What every environment must print: what Node prints without any tool. */
  static async create() {
    const load = (...path) => import(pathToFileURL(join(root, ...path)).href)
    const { MemoryStorage, Session, toMessages } = await load('dist', 'index.mjs')
    const { scenario } = await load('tests', 'matrix', '_apps', 'scenario.mjs')
    const checks = new Checks()
    checks.#expected = await scenario({ Session, toMessages }, { storage: new MemoryStorage() })
    return checks
  }

  /** Runs `work`, which must resolve to what the scenario returns, or to nothing if it checks by itself. */
  async run(title, work) {
    try {
      const found = (await work())?.trim()
      if (found !== undefined && found !== this.#expected)
        throw new Error(`expected "${this.#expected}", found "${found}"`)
      this.#passed.push(title)
      console.log(`ok      ${title}`)
    } catch (error) {
      this.fail(title, error)
    }
  }

  fail(title, error) {
    this.#failed.push(title)
    console.log(`FAILED  ${title}\n${error.stack}`)
  }

  /** Prints the sums; returns whether all passed. */
  report() {
    if (this.#failed.length > 0) console.log(`\nFailed:\n${this.#failed.join('\n')}`)
    console.log(`\n${this.#passed.length} passed, ${this.#failed.length} failed`)
    return this.#failed.length === 0
  }
}
