// The speed of counting, and whether the counts are right.
import { corpora } from './corpora.mjs'
import { COUNTERS, ENCODINGS, ORACLE, OURS } from './peers.mjs'

const ROUNDS = 15
/** A peer that has spent this many milliseconds on a text takes part in no further rounds after the third. */
const ENOUGH = 4000
const FEWEST = 3

/** Characters that are repeated to a million bytes, alone or alternating. */
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
/** Peers that would take many minutes for such texts are left out. */
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

/** The time per byte of long repetitions, relative to prose. */
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

/** Our speed relative to the fastest exact peer. */
export function ratioToFastest(peers) {
  const ours = peers.find(({ name }) => name === OURS)
  const others = peers.filter(({ name, exact }) => name !== OURS && exact)
  return ours.megabytesPerSecond / Math.max(...others.map(({ megabytesPerSecond }) => megabytesPerSecond))
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[sorted.length >> 1]
}
