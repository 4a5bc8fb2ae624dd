// Measurements in processes of their own: the time to the first count, and memory.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { COUNTERS, ENCODINGS } from './peers.mjs'

const ROUNDS = 9
const child = fileURLToPath(new URL('./child.mjs', import.meta.url))

/** The result of a task of child.mjs. */
export async function inProcess(...task) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, ...task])
  return JSON.parse(stdout)
}

/** Medians of all rounds, in which the counters take turns. */
export async function coldStarts() {
  return taskResults('cold', ROUNDS, ['milliseconds'])
}

export async function memory() {
  return taskResults('memory', 3, ['loaded', 'used'])
}

async function taskResults(task, rounds, measures) {
  const cases = ENCODINGS.flatMap((encoding) => Object.keys(COUNTERS).map((name) => ({ encoding, name, samples: [] })))
  for (let round = 0; round < rounds; round++) {
    for (const { name, encoding, samples } of cases) samples.push(await inProcess(task, name, encoding))
  }
  return cases.map(({ encoding, name, samples }) => {
    const medians = measures.map((measure) => {
      const sorted = samples.map((sample) => sample[measure]).sort((one, other) => one - other)
      return [measure, sorted[sorted.length >> 1]]
    })
    return { encoding, name, ...Object.fromEntries(medians) }
  })
}
