// In Node, the module is read at the start, the module of the providers and vocabularies when they are needed.
import { readFileSync } from 'node:fs'
import * as providersCode from '../../providers/bindings.js'
import { provideDefaultStorage } from '../../storage/default.js'
import { NodeFileStorage } from '../../storage/node.js'
import { loadAtStart } from '../../wasm/loading.js'
import { setPlatform } from '../../wasm/platform.js'
import { readPackageFile } from './package-files.js'

/** The oldest Node that the package supports. Deno and Bun name the version that they are compatible with. */
const MINIMUM = 20

/** Makes Node the platform of all entry points in the process, and loads the module. */
export function startInNode(): void {
  provideDefaultStorage(new NodeFileStorage())
  setPlatform({
    module: readModule,
    providers: () => readPackageFile('peteos_session_providers_bg.wasm'),
    providersCode,
    readVocabulary: (name) => readPackageFile(`encodings/${name}.bin`),
    readFile: (address) => readFileSync(address),
  })
  loadAtStart(readModule)
}

function readModule(): Uint8Array {
  const { node } = process.versions
  if (Number.parseInt(node, 10) < MINIMUM) throw new Error(`Node ${MINIMUM} or later is needed; this is Node ${node}`)
  return readPackageFile('peteos_session_bg.wasm')
}
