// Writes the vocabulary files that are loaded at run time, from those of the crate tiktoken-rs.
//
// Format: for rank 0, 1, 2, … to the highest, one byte with the token's length and then its bytes. Length 0 marks a
// rank that no token has.
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
  const chunks = []
  // By index, to include the ranks without a token.
  for (let rank = 0; rank < tokens.length; rank += 1) {
    const token = tokens[rank] ?? Buffer.alloc(0)
    chunks.push(Buffer.of(token.length), token)
  }
  return Buffer.concat(chunks)
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
