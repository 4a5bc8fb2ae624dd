// Tokens counted per second, and whether they are counted right.
import { corpora } from './corpora.mjs'
import { COUNTERS, ENCODINGS, ORACLE, OURS } from './peers.mjs'

const ROUNDS = 15
/** A slow peer does not take part in more rounds once it has used so many milliseconds on a text, but in three. */
const ENOUGH = 4000
const FEWEST = 3

/** Characters of which a million bytes are counted, in a row or in turn. */
const REPETITIONS = {
  a: 'a',
  space: ' ',
  newline: '\n',
  7: '7',
  '-': '-',
  中: '中',
  '👍': '👍',
  aB: 'aB',
  a7: 'a7',
  '. ': '. ',
}
const REPEATED_BYTES = 1_000_000
/** The peers that take longer than minutes for them are not asked. */
const REPETITION_PEERS = [OURS, 'hypertok']

export async function counting() {
  const results = []
  const texts = corpora()
  for (const encoding of ENCODINGS) {
    const counters = []
    for (const [name, load] of Object.entries(COUNTERS)) counters.push({ name, count: await load(encoding) })
    for (const corpus of texts) results.push(await corpusResult(encoding, corpus, counters))
    results.push(...(await repetitions(encoding, counters, results)))
  }
  return results
}

async function corpusResult(encoding, { name: corpus, texts, bytes }, counters) {
  const states = counters.map(({ name, count }) => ({ name, count, counts: [], times: [], spent: 0 }))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const state of states) {
      if (state.spent > ENOUGH && state.times.length >= FEWEST) continue
      const start = process.hrtime.bigint()
      const counts = texts.map(state.count)
      const milliseconds = Number(process.hrtime.bigint() - start) / 1e6
      state.counts = counts
      state.spent += milliseconds
      // The first round warms up.
      if (round > 0) state.times.push(milliseconds)
    }
  }
  const right = states.find(({ name }) => name === ORACLE).counts
  const peers = states.map(({ name, counts, times }) => ({
    name,
    exact: counts.every((count, index) => count === right[index]),
    megabytesPerSecond: bytes / 1000 / median(times),
  }))
  return { encoding, corpus, bytes, tokens: right.reduce((sum, count) => sum + count, 0), peers }
}

/** Time per byte of long repetitions, in multiples of that of prose. */
async function repetitions(encoding, counters, results) {
  const prose = results.find((result) => result.encoding === encoding && result.corpus === 'prose')
  return Object.entries(REPETITIONS).map(([name, unit]) => {
    const text = unit.repeat(REPEATED_BYTES / Buffer.byteLength(unit))
    const bytes = Buffer.byteLength(text)
    const asked = counters.filter((counter) => REPETITION_PEERS.includes(counter.name))
    const peers = asked.map((counter) => {
      const times = []
      let count
      for (let round = 0; round < FEWEST; round++) {
        const start = process.hrtime.bigint()
        count = counter.count(text)
        times.push(Number(process.hrtime.bigint() - start) / 1e6)
      }
      const ofProse = prose.peers.find((peer) => peer.name === counter.name)
      const milliseconds = median(times)
      return {
        name: counter.name,
        count,
        milliseconds,
        timesProse: milliseconds / (bytes / 1000 / ofProse.megabytesPerSecond),
      }
    })
    return { encoding, repetition: name, bytes, peers }
  })
}

/** What a count is compared with by the reader: our speed in multiples of the fastest exact peer's. */
export function ratioToFastest(peers) {
  const ours = peers.find(({ name }) => name === OURS)
  const others = peers.filter(({ name, exact }) => name !== OURS && exact)
  return ours.megabytesPerSecond / Math.max(...others.map(({ megabytesPerSecond }) => megabytesPerSecond))
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[sorted.length >> 1]
}
