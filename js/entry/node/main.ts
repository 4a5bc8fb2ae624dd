// Entry for Node: the module is loaded from the start.
import { startInNode } from './platform.js'

export * from '../../index.js'

startInNode()
