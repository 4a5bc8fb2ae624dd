// Entry for any platform: the modules are imported as code, for bundles that are moved away from the package's files.
import './embedded/peteos_session_bg.js'
import './embedded/peteos_session_providers_bg.js'
import * as providersCode from '../providers/bindings.js'
import { embeddedFile } from '../wasm/embedded.js'
import { loadAtStart } from '../wasm/loading.js'
import { completePlatform, type Platform } from '../wasm/platform.js'
import { vocabularyUrl } from './vocabulary-urls.js'

export * from '../index.js'

const module = () => embeddedFile('peteos_session_bg.wasm') as Uint8Array
const providers = () => embeddedFile('peteos_session_providers_bg.wasm') as Uint8Array

/** Of Node, Deno and Bun, found without an import, because the entry also runs elsewhere. */
type Builtins = { getBuiltinModule?(name: 'fs'): { readFileSync(address: URL): Uint8Array } }
const fs = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('fs')

const platform: Platform = { module, providers, providersCode, vocabularyUrl }
if (fs !== undefined) platform.readFile = (address) => fs.readFileSync(address)
completePlatform(platform)
loadAtStart(module)
