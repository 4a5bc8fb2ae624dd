// `npm run bench`: the speed of counting compared with other packages, and the cost of session operations as a session grows.
// Prints tables and writes target/bench.json. `npm run bench -- counting cold` runs only those parts.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from '../scripts/build.mjs'
import { benchPackages } from '../scripts/setup/npm.mjs'
import { root, step } from '../scripts/setup/steps.mjs'
import { interleaved } from './measure.mjs'
import { printMedians, printTable } from './table.mjs'

await build()
await benchPackages()
const { COUNTERS, ENCODINGS, OURS } = await import('./peers.mjs')
const { coldStarts, inProcess, memory } = await import('./processes.mjs')
const NAMES = Object.keys(COUNTERS)

const PARTS = {
  async counting() {
    const { counting, ratioToFastest } = await import('./counting.mjs')
    const results = await counting()
    for (const encoding of ENCODINGS) {
      const corpora = results.filter((result) => result.encoding === encoding && result.corpus)
      const rows = corpora.map(({ corpus, bytes, peers }) => [
        `${corpus}, ${(bytes / 1e6).toFixed(1)} MB`,
        ...peers.map(({ exact, megabytesPerSecond }) => `${megabytesPerSecond.toFixed(1)}${exact ? '' : ' wrong'}`),
        `${ratioToFastest(peers).toFixed(2)} x`,
      ])
      printTable(
        `${encoding}: megabytes counted per second (median), and our ratio to the fastest exact peer`,
        [...NAMES, 'ratio'],
        rows,
      )
      const repeated = results.filter((result) => result.encoding === encoding && result.repetition)
      const names = repeated[0].peers.map(({ name }) => name)
      printTable(
        `${encoding}: 1 MB of the same text repeated: milliseconds, and the time per byte relative to prose`,
        names.flatMap((name) => [name, 'x prose']),
        repeated.map(({ repetition, peers }) => [
          repetition,
          ...peers.flatMap((peer) => [peer.milliseconds, peer.timesProse]),
        ]),
      )
    }
    const wrong = results.flatMap(({ encoding, corpus, peers }) =>
      peers.filter(({ name, exact }) => name === OURS && exact === false).map(() => `${corpus} in ${encoding}`),
    )
    if (wrong.length > 0) throw new Error(`the counts differ from tiktoken's: ${wrong.join(', ')}`)
    console.log("\nExact: every count of every text equals tiktoken's.")
    return results
  },

  async cold() {
    const results = await coldStarts()
    const of = (encoding, name) =>
      results.find((result) => result.encoding === encoding && result.name === name).milliseconds
    printTable(
      'Import to first count in a new process (median, milliseconds), and our ratio to the fastest peer',
      [...NAMES, 'ratio'],
      ENCODINGS.map((encoding) => {
        const fastest = Math.min(...NAMES.filter((name) => name !== OURS).map((name) => of(encoding, name)))
        return [encoding, ...NAMES.map((name) => of(encoding, name)), `${(of(encoding, OURS) / fastest).toFixed(2)} x`]
      }),
    )
    return results
  },

  async memory() {
    const results = await memory()
    const of = (encoding, name) => results.find((result) => result.encoding === encoding && result.name === name)
    printTable(
      'Megabytes that an encoding adds to the process: loaded / after counting a megabyte; ratio of the first',
      [...NAMES, 'ratio'],
      ENCODINGS.map((encoding) => {
        const least = Math.min(...NAMES.filter((name) => name !== OURS).map((name) => of(encoding, name).loaded))
        const cells = NAMES.map((name) => of(encoding, name)).map(
          ({ loaded, used }) => `${loaded.toFixed(1)} / ${used.toFixed(1)}`,
        )
        return [encoding, ...cells, `${(of(encoding, OURS).loaded / least).toFixed(2)} x`]
      }),
    )
    return results
  },

  async sizes() {
    const { sizes } = await import('./sizes.mjs')
    const results = await sizes()
    printTable(
      'Kilobytes to transfer',
      ['uncompressed', 'gzip', 'brotli'],
      results.map(({ name, bytes, gzip, brotli }) => [name, bytes / 1000, gzip / 1000, brotli / 1000]),
    )
    return results
  },

  async windows() {
    const { windows, withRatios } = await import('./windows.mjs')
    const results = withRatios(await windows())
    printMedians('A token window of 4,000 tokens by number of messages (median, microseconds)', results)
    return results
  },

  async growth() {
    const { growth } = await import('./growth.mjs')
    const results = await interleaved(growth())
    printMedians('Cost by number of messages in the context (median, microseconds)', results)
    const { besideJson, withRatios } = await import('./beside-json.mjs')
    const ratios = withRatios(await interleaved(await besideJson()))
    printTable(
      'Cost compared with JSON.stringify and JSON.parse of the same data (median, microseconds)',
      ['this package', 'JSON alone', 'ratio'],
      ratios.map(({ row, ours, json, ratio }) => [row, ours, json, `${ratio.toFixed(1)} x`]),
    )
    return { results, ratios }
  },

  async scale() {
    const directory = await mkdtemp(join(tmpdir(), 'peteos-session-bench-'))
    try {
      const built = await inProcess('scaleBuild', directory)
      const loaded = await inProcess('scaleLoad', directory, built.uuid)
      printTable(
        `100,000 messages, ${built.megabytes.toFixed(0)} MB on disk`,
        ['creating it', 'loading it'],
        [
          ...['append', 'load', 'window', 'windowAfterAppend', 'save', 'saveAgain'].map((name) => [
            `${name}, ms`,
            built.times[name],
            loaded.times[name],
          ]),
          ['peak memory, MB', built.peakMegabytes, loaded.peakMegabytes],
        ],
      )
      return { built, loaded }
    } finally {
      await rm(directory, { recursive: true })
    }
  },

  async writers() {
    const { writers } = await import('./writers.mjs')
    const results = await writers()
    printTable(
      'Four processes that change one session',
      results.map(({ kind, rounds }) => `${kind}, ${rounds} turns each`),
      [
        ['turns a second, of all together', ...results.map(({ perSecond }) => perSecond)],
        ['median wait, ms', ...results.map(({ median }) => median)],
        ['longest wait, ms', ...results.map(({ longest }) => longest)],
        ['turns of the last when the first is done', ...results.map(({ slowest }) => `${slowest}`)],
      ],
    )
    return results
  },
}

const results = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', date: new Date().toISOString() }
console.log(`Node ${results.node}, ${results.cpu}`)
const asked = process.argv.slice(2)
const unknown = asked.find((part) => !(part in PARTS))
if (unknown !== undefined)
  throw new Error(`${unknown} is not a part of the benchmark; the parts are ${Object.keys(PARTS).join(', ')}`)
for (const [name, part] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  results[name] = await step(`measuring ${name}`, part)
}
await mkdir(join(root, 'target'), { recursive: true })
await writeFile(join(root, 'target', 'bench.json'), `${JSON.stringify(results, null, 2)}\n`)
console.log('\nWritten to target/bench.json')
