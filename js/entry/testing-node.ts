// The conformance suite in Node. Who tests an adapter need not import anything else of the package.
import { completePlatform, initSync } from '../runtime.js'
import { nodePlatform, readModule } from './node-platform.js'

export * from '../testing/index.js'

completePlatform(nodePlatform())
initSync(readModule())
