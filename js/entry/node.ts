// Node: the module is there from the start.
import { initSync, setPlatform } from '../runtime.js'
import { nodePlatform, readModule } from './node-platform.js'

export * from '../index.js'

setPlatform(nodePlatform())
initSync(readModule())
