// The conformance suite in Node. A test of an adapter need not import anything else.
import { provideDefaultStorage } from '../storage/default.js'
import { NodeFileStorage } from '../storage/node.js'
import { initSync } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import { nodePlatform, readModule } from './node-platform.js'

export * from '../testing/index.js'

provideDefaultStorage(new NodeFileStorage())
completePlatform(nodePlatform())
initSync(readModule())
