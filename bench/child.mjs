// Measurements that need a process of their own: `node child.mjs <task> <arguments>` prints one line of JSON.
import { COUNTERS } from './peers.mjs'

const TEXT = 'Hello, world! How many tokens are there?'

const TASKS = {
  /** Milliseconds from before the import to the first count. */
  async cold(name, encoding) {
    const start = performance.now()
    const count = await COUNTERS[name](encoding)
    const tokens = count(TEXT)
    return { milliseconds: performance.now() - start, tokens }
  },

  /** Megabytes that an encoding adds to the process after it has counted a short text, and after a long one. */
  async memory(name, encoding) {
    const { corpora } = await import('./corpora.mjs')
    const {
      texts: [prose],
    } = corpora().find((corpus) => corpus.name === 'prose')
    // The memory of the package itself is shared by the encodings.
    if (name === 'peteos-session') await import('../dist/index.mjs')
    if (name === 'tiktoken') await import('tiktoken')
    if (name === 'hypertok') await import('hypertok')
    const before = resident()
    const count = await COUNTERS[name](encoding)
    count(TEXT)
    const loaded = resident() - before
    count(prose)
    return { loaded, used: resident() - before }
  },

  async scaleBuild(directory) {
    const { build } = await import('./scale.mjs')
    return build(directory)
  },

  async scaleLoad(directory, uuid) {
    const { load } = await import('./scale.mjs')
    return load(directory, uuid)
  },
}

function resident() {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage.rss() / 1e6
}

const [task, ...rest] = process.argv.slice(2)
console.log(JSON.stringify(await TASKS[task](...rest)))
