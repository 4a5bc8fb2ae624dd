// Writes the vocabulary files that are loaded at run time, from those of the crate tiktoken-rs.
//
// Format: the 256 tokens of one byte in the order of ranks. Every other token is two earlier ones, one after the other: for
// each rank from 256, the ranks of both, in six columns, the low, middle and high bytes of the left ranks and then those of
// the right ones. 0xFFFFFF twice marks a rank that no token has. In columns they compress to two thirds of the tokens' text.
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findCrate } from './setup/crates.mjs'
import { SetupError } from './setup/steps.mjs'

// The SHA-256 of each source, the same as in tiktoken. The vocabulary of r50k_base is the beginning of that of p50k_base.
const SOURCES = {
  p50k_base: '94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069',
  cl100k_base: '223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7',
  o200k_base: '446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d',
}
const MAX_TOKEN_BYTES = 255
const SINGLE_BYTES = 256
const NO_PARTS = 0xffffff
const LINE = /^([A-Za-z0-9+/]+={0,2}) (\d+)$/

/** Writes one `.bin` file per vocabulary into `folder`; resolves to their names. */
export async function writeVocabularies(folder) {
  const { folder: crate } = await findCrate('tiktoken-rs')
  await mkdir(folder, { recursive: true })
  for (const [name, sha256] of Object.entries(SOURCES)) {
    const source = await readFile(join(crate, 'assets', `${name}.tiktoken`))
    checkHash(name, source, sha256)
    await writeFile(join(folder, `${name}.bin`), encodeVocabulary(name, source.toString('latin1')))
  }
  return Object.keys(SOURCES).map((name) => `${name}.bin`)
}

function checkHash(name, source, expected) {
  const actual = createHash('sha256').update(source).digest('hex')
  if (actual === expected) return
  throw new SetupError(
    `${name}.tiktoken of the crate tiktoken-rs is not the known vocabulary: its SHA-256 is ${actual}, not ${expected}. ` +
      'If the crate in the local registry is damaged, remove its folder and build again.',
  )
}

function encodeVocabulary(name, text) {
  const tokens = parseTokens(name, text)
  const ranks = new Map()
  tokens.forEach((token, rank) => ranks.set(token.toString('latin1'), rank))
  const single = tokens.slice(0, SINGLE_BYTES)
  // By index, to include the ranks without a token.
  const pairs = Array.from({ length: tokens.length - SINGLE_BYTES }, (_, index) => {
    const rank = index + SINGLE_BYTES
    return rank in tokens ? partsOf(tokens[rank].toString('latin1'), rank, ranks) : [NO_PARTS, NO_PARTS]
  })
  const column = (side, shift) => Buffer.from(pairs.map((pair) => (pair[side] >> shift) & 0xff))
  return Buffer.concat([...single, ...[0, 1].flatMap((side) => [0, 8, 16].map((shift) => column(side, shift)))])
}

/** The ranks of the two tokens that are merged last when this one is made. */
function partsOf(token, rank, ranks) {
  const parts = [...token]
  while (parts.length > 2) {
    let best = { rank, at: -1 }
    for (let at = 0; at + 1 < parts.length; at += 1) {
      const merged = ranks.get(parts[at] + parts[at + 1])
      if (merged < best.rank) best = { rank: merged, at }
    }
    if (best.at === -1) throw new SetupError(`The token of rank ${rank} is not made of earlier ones.`)
    parts.splice(best.at, 2, parts[best.at] + parts[best.at + 1])
  }
  return parts.map((part) => ranks.get(part))
}

/** The tokens by rank. */
function parseTokens(name, text) {
  const tokens = []
  text
    .replace(/\n$/, '')
    .split('\n')
    .forEach((line, index) => {
      const refuse = (reason) => {
        throw new SetupError(`${name}.tiktoken, line ${index + 1}: ${reason}`)
      }
      const [, base64, digits] = LINE.exec(line) ?? refuse('expected "<base64 of the token> <rank>".')
      const token = Buffer.from(base64, 'base64')
      const rank = Number(digits)
      if (token.toString('base64') !== base64) refuse('the token is not valid base64.')
      if (token.length > MAX_TOKEN_BYTES)
        refuse(`the token has ${token.length} bytes; the format holds ${MAX_TOKEN_BYTES}.`)
      if (rank in tokens) refuse(`rank ${rank} is used twice.`)
      tokens[rank] = token
    })
  return tokens
}
