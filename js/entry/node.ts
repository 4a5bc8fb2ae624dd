// Node: the module and the vocabularies are files beside this one, read when they are needed.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { initSync, setPlatform } from '../runtime.js'
import { NodeFileStorage } from '../storage/node.js'

export * from '../index.js'

const file = (name: string) => new URL(`./${name}`, import.meta.url)

setPlatform({
  storage: new NodeFileStorage(),
  readVocabulary: (name) => readFileSync(file(`encodings/${name}.bin`)),
  fetchVocabulary: (name) => readFile(file(`encodings/${name}.bin`)),
})
initSync(readFileSync(file('peteos_session_bg.wasm')))
