// The conformance suite in Node, complete in itself: a test of an adapter needs no other import.
import { provideDefaultStorage } from '../storage/default.js'
import { NodeFileStorage } from '../storage/node.js'
import { initSync } from '../wasm/loading.js'
import { completePlatform } from '../wasm/platform.js'
import { nodePlatform, readModule } from './node-platform.js'

export * from '../testing/index.js'

provideDefaultStorage(new NodeFileStorage())
completePlatform(nodePlatform())
initSync(readModule())
