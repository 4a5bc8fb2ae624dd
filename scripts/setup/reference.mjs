// Installs the Python packages peteos and tiktoken, which the interoperability tests compare with.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findCrate } from './crates.mjs'
import { hintFor } from './hints.mjs'
import { findProgram } from './programs.mjs'
import { onlyWhenChanged } from './stamps.mjs'
import { once, root, run, SetupError, say, step } from './steps.mjs'

const REQUIREMENTS = ['peteos==0.5.8', 'tiktoken']
const ENCODINGS = ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base'].map((name) => `${name}.tiktoken`)
const ASSETS = [...ENCODINGS, 'encoder.json', 'vocab.bpe']

const folder = join(root, 'target', 'reference')
const venv = join(folder, 'venv')
const cache = join(folder, 'encodings')
const python = process.platform === 'win32' ? join(venv, 'Scripts', 'python.exe') : join(venv, 'bin', 'python')

const state = once(async () => {
  try {
    await ensureEnvironment()
    await ensureEncodings()
    return { reference: { python, env: { ...process.env, TIKTOKEN_CACHE_DIR: cache } } }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    say(`The comparison with the Python package will be skipped.\n${error.message}`)
    return { reference: null, reason: error.message.split('\n', 1)[0] }
  }
})

/**
 * How to run the reference: { python, env }, where `env` is the complete environment. If Python or its package index is not
 * available, it prints why and returns null.
 */
export async function reference() {
  return (await state()).reference
}

/** One line that says why there is no reference. */
export async function whyNoReference() {
  return `The comparison with the Python package was skipped: ${(await state()).reason}`
}

async function ensureEnvironment() {
  const work = { values: [REQUIREMENTS], outputs: ['target/reference/venv/pyvenv.cfg'] }
  if (!(await works())) await rm(venv, { recursive: true, force: true })
  await onlyWhenChanged('reference', work, () =>
    step(`installing ${REQUIREMENTS.join(' and ')} for Python`, async () => {
      await run(findPython(), ['-m', 'venv', '--clear', venv], {
        hint: `Python's module venv is missing. ${hintFor('python')}`,
      })
      await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...REQUIREMENTS], {
        hint: `pip could not install ${REQUIREMENTS.join(' and ')}; it needs a network.`,
      })
    }),
  )
}

export function findPython() {
  const found = findProgram(['python3', 'python'])
  if (!found) throw new SetupError(`Python 3 was not found. ${hintFor('python')}`)
  return found
}

/** A venv stops working when its base Python is removed. */
async function works() {
  return run(python, ['-c', ''], { capture: true }).then(
    () => true,
    () => false,
  )
}

/** tiktoken downloads an encoding unless its cache folder has it, under the SHA-1 of its URL. */
async function ensureEncodings() {
  const urls = await encodingUrls()
  const { folder: crate } = await findCrate('tiktoken-rs')
  await mkdir(cache, { recursive: true })
  await Promise.all(
    ASSETS.map(async (asset) => {
      const url = urls.find((candidate) => candidate.endsWith(`/${asset}`))
      if (!url) throw new SetupError(`The installed tiktoken names no URL for ${asset}; the cache can't be filled.`)
      const file = join(cache, createHash('sha1').update(url).digest('hex'))
      if (!existsSync(file)) await copyAsset(join(crate, 'assets', asset), file)
    }),
  )
}

async function copyAsset(asset, file) {
  if (!asset.endsWith('.json')) return copyFile(asset, file)
  // tiktoken checks the bytes of the original file, which Python wrote; the crate holds the same document indented.
  const rewrite = 'import json, sys; json.dump(json.load(open(sys.argv[1], encoding="utf-8")), open(sys.argv[2], "w"))'
  await run(python, ['-c', rewrite, asset, file])
}

async function encodingUrls() {
  const locate = 'import importlib.util; print(importlib.util.find_spec("tiktoken_ext.openai_public").origin)'
  const module = (await run(python, ['-c', locate], { capture: true })).trim()
  return (await readFile(module, 'utf8')).match(/https:\/\/[^"']+/g) ?? []
}
