// Entry for Node: the module is loaded from the start.
import { provideDefaultStorage } from '../storage/default.js'
import { NodeFileStorage } from '../storage/node.js'
import { initSync } from '../wasm/loading.js'
import { setPlatform } from '../wasm/platform.js'
import { nodePlatform, readModule } from './node-platform.js'

export * from '../index.js'

provideDefaultStorage(new NodeFileStorage())
setPlatform(nodePlatform())
initSync(readModule())
